"""Notebooks: cells, magics, positions within cells, files that are no notebooks."""

from __future__ import annotations

import ast
import json

import pytest

from nonstrict.findings import Span
from nonstrict.text.notebook import masked_cell
from nonstrict.text.source import Source, UnreadableSource, repaired, source_from_bytes


def notebook(*cells: tuple[str, object], **metadata: object) -> Source:
    content = {"cells": [{"cell_type": kind, "source": text} for kind, text in cells], "metadata": metadata}
    return source_from_bytes("a.ipynb", json.dumps(content).encode())


def test_code_cells_are_joined_and_found_again() -> None:
    source = notebook(("markdown", "# no"), ("code", ["x = 1\n", "y = 2"]), ("raw", "z"), ("code", "é = x\n"))
    assert source.code == "x = 1\ny = 2\né = x\n"
    place = source.locate(Span("a.ipynb", 3, 5, 3, 6))
    assert (place.cell, place.row, place.column, place.end_column) == (4, 1, 5, 6)
    assert source.line_text(1, 4) == "é = x"
    assert source.line_text(2, 2) == "y = 2"
    assert source.line_text(3, 2) == source.line_text(1, 1) == ""


@pytest.mark.parametrize(
    "cell",
    [
        "%matplotlib inline\nx = 1",
        "!pip install torch\nx = 1",
        "!pip install \\\n  torch\nx = 1",
        "x = !ls -la",
        "x = %time 3",
        "if True:\n    !ls\nx = 1",
        "%%time\nx = 1",
        "%%bash\nfor i in 1 2; do echo $i; done",
        "torch.compile?\nx = 1",
        "?torch.compile\nx = 1",
        "!echo \"it's (\nx = 1",
        "x = 1\n%timeit x",
        "for i in y:\n    %time f(i)",
        "/f 1\n,g a b",
    ],
)
def test_magics_are_masked_and_the_rest_is_python(cell: str) -> None:
    source = notebook(("code", cell))
    assert repaired(source) is source
    masked = source.code.split("\n")[:-1]
    assert [len(line) for line in masked] == [len(line) for line in cell.split("\n")]
    if "x = 1" in cell:
        assert "x = 1" in source.code
    assert source.text.startswith(cell)


@pytest.mark.parametrize(
    "cell",
    [
        "x = '''\n%d items\n!important\n'''",
        "x = (a\n  % b)",
        "x = y != z",
        "x = a \\\n  % b",
        "if a:\n    x = 1\n    '?'",
    ],
)
def test_what_only_looks_like_a_magic_is_left_alone(cell: str) -> None:
    assert masked_cell(cell) == cell
    assert masked_cell("%time f()\n" + cell).split("\n", 1)[1] == cell


@pytest.mark.parametrize("text", ["{", "[]", "3", '{"cells": 3}', "nonsense", '{"cells"', "[" * 100_000])
def test_what_is_no_notebook_is_refused_with_a_reason(text: str) -> None:
    with pytest.raises(UnreadableSource, match="not a notebook"):
        source_from_bytes("a.ipynb", text.encode())


def test_odd_notebooks_are_survived() -> None:
    assert source_from_bytes("a.ipynb", b"").code == ""
    assert source_from_bytes("a.ipynb", b"{}").code == ""
    assert notebook().code == ""
    odd: dict[str, object] = {"cells": [None, 3, {}, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "x"]}]}
    assert source_from_bytes("a.ipynb", json.dumps(odd).encode()).code == "\nx\n"
    surrogate = '{"cells": [{"cell_type": "code", "source": "x = \'\\ud800\'"}]}'
    assert ast.parse(source_from_bytes("a.ipynb", surrogate.encode()).code)


def test_the_oldest_format_is_read() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"]}]}], "nbformat": 3}
    assert source_from_bytes("a.ipynb", json.dumps(old).encode()).code == "x = 1\n"


def test_other_languages_are_left_alone() -> None:
    assert notebook(("code", "x <- 1"), kernelspec={"language": "R"}).code == ""
