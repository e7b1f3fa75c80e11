"""Where the lines of cells stand in the JSON of a notebook."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.text.notebook_rows import file_rows

LINES = st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n")), min_size=1)


def places(text: str) -> list[list[str]]:
    """What stands in the file where the lines of each cell are said to stand."""
    lines = text.split("\n")
    return [[lines[row - 1][column - 1 : end - 1] for row, column, end in rows] for rows in file_rows(text)]


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("whole", [False, True])
def test_lines_are_found_where_they_stand(indent: int | None, whole: bool) -> None:
    code = 'x = "\\n"\n\nprint(f"é{x}")\n'
    cells = [
        {"cell_type": "markdown", "metadata": {"source": "no"}, "source": ["# A\n", "text"]},
        {"source": code if whole else code.splitlines(keepends=True), "outputs": [{"source": ["no"]}]},
        {"cell_type": "code", "source": []},
        {"cell_type": "code", "source": "a\nb"},
    ]
    text = json.dumps({"metadata": {"cells": [1, "x"]}, "cells": cells}, indent=indent)
    assert places(text)[:2] == [["# A", "text"], ['x = \\"\\\\n\\"', "", 'print(f\\"\\u00e9{x}\\")']]
    assert places(text)[-1] == ["a", "b"]


def test_old_notebooks_hold_their_cells_in_sheets() -> None:
    text = json.dumps({"worksheets": [{"cells": [{"input": ["x\n", "y"]}]}, {"cells": [{"input": "z"}]}]}, indent=2)
    assert places(text) == [["x", "y"], ["z"]]


def test_a_line_in_pieces_stands_where_its_first_piece_does() -> None:
    assert places('{"cells": [{"source": ["a", "b\\nc", "d\\n", "e"]}]}') == [["a", "c", "e"]]


@given(st.lists(LINES), st.sampled_from([None, 1]))
def test_any_lines_are_found(cells: list[list[str]], indent: int | None) -> None:
    listed = [{"source": [f"{line}\n" for line in lines]} for lines in cells]
    found = places(json.dumps({"cells": listed}, indent=indent))
    assert [[json.loads(f'"{line}"') for line in lines] for lines in found] == cells
