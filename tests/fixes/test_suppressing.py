"""Edits that suppress a finding where it is, in its file, and that remove what suppresses nothing."""

from __future__ import annotations

import json

import pytest

from nonstrict.check.selection import codes_by_name
from nonstrict.findings import LocatedEdit, Location
from nonstrict.fixes.suppressing import remove_suppression, suppress_in_file, suppress_on_line
from nonstrict.rules.registry import RULES
from nonstrict.text.source import Source, source_from_bytes

CODES = codes_by_name(RULES)


def edited(text: str, edit: LocatedEdit | None) -> str:
    assert edit is not None
    lines, where = text.split("\n"), edit.location
    before = "\n".join([*lines[: where.row - 1], lines[where.row - 1][: where.column - 1]])
    behind = "\n".join([lines[where.end_row - 1][where.end_column - 1 :], *lines[where.end_row :]])
    return before + edit.text + behind


def source(text: str) -> Source:
    return source_from_bytes("a.py", text.encode())


def at(text: str, piece: str) -> Location:
    """The location of the first occurrence of a piece of a text."""
    start = text.index(piece)
    row, end_row = (text.count("\n", 0, place) + 1 for place in (start, start + len(piece)))
    column = start - (text.rfind("\n", 0, start) + 1) + 1
    end = start + len(piece)
    return Location("a.py", row, column, end_row, end - (text.rfind("\n", 0, end) + 1) + 1)


@pytest.mark.parametrize(
    ("text", "piece", "expected"),
    [
        ("y = x * W\n", "W", "y = x * W  # nonstrict: ignore[NST101]\n"),
        ("y = x * W   \n", "W", "y = x * W  # nonstrict: ignore[NST101]\n"),
        ("y = W  # why\n", "W", "y = W  # why  # nonstrict: ignore[NST101]\n"),
        ("y = W  # noqa: E501\n", "W", "y = W  # noqa: E501  # nonstrict: ignore[NST101]\n"),
        (
            "y = W  # nonstrict: ignore[NST201]  seen\n",
            "W",
            "y = W  # nonstrict: ignore[NST201, NST101]  seen\n",
        ),
        ("y = W  # nonstrict: ignore[]\n", "W", "y = W  # nonstrict: ignore[NST101]\n"),
        ("y = W  # nonstrict: ignore[NST201, ]\n", "W", "y = W  # nonstrict: ignore[NST201, NST101]\n"),
        # A comment that suppresses in a string is none.
        (
            'y = "# nonstrict: ignore[NST201]" + W\n',
            "W",
            'y = "# nonstrict: ignore[NST201]" + W  # nonstrict: ignore[NST101]\n',
        ),
        ("y = (\n    W\n)\n", "W", "y = (\n    W  # nonstrict: ignore[NST101]\n)\n"),
        (
            "if x:\n    y = W + \\\n        1\n",
            "W",
            "if x:\n    # nonstrict: ignore[NST101]\n    y = W + \\\n        1\n",
        ),
        ('y = f"""\n{W}\n"""\n', "W", '# nonstrict: ignore[NST101]\ny = f"""\n{W}\n"""\n'),
        (
            '# nonstrict: ignore[NST201]\ny = f"""\n{W}\n"""\n',
            "W",
            '# nonstrict: ignore[NST201, NST101]\ny = f"""\n{W}\n"""\n',
        ),
        ('f("""\n""", W)\n', 'f("""\n""", W)', 'f("""\n""", W)  # nonstrict: ignore[NST101]\n'),
        ("y = W", "W", "y = W  # nonstrict: ignore[NST101]"),
    ],
)
def test_suppressed_where_it_is(text: str, piece: str, expected: str):
    edit = suppress_on_line(source(text), at(text, piece), "NST101", CODES)
    assert edited(text, edit) == expected


def test_suppressed_in_a_cell():
    cells = [{"cell_type": "markdown", "source": "text"}, {"cell_type": "code", "source": "%time\ny = W"}]
    notebook = source_from_bytes("n.ipynb", json.dumps({"cells": cells, "metadata": {}}).encode())
    place = Location("n.ipynb", 2, 5, 2, 6, 2)
    assert suppress_on_line(notebook, place, "NST101", CODES) == LocatedEdit(
        Location("n.ipynb", 2, 6, 2, 6, 2), "  # nonstrict: ignore[NST101]"
    )
    assert suppress_in_file(notebook, place, "NST101", CODES) == LocatedEdit(
        Location("n.ipynb", 1, 1, 1, 1, 2), "# nonstrict: file-ignore[NST101]\n"
    )


def test_suppressed_in_a_page():
    text = "# Title\n\n```python\ny = W\n```\n"
    page = source_from_bytes("a.md", text.encode())
    place = Location("a.md", 4, 5, 4, 6)
    assert edited(text, suppress_on_line(page, place, "NST101", CODES)) == text.replace(
        "y = W", "y = W  # nonstrict: ignore[NST101]"
    )
    assert suppress_in_file(page, place, "NST101", CODES) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = W\n", "# nonstrict: file-ignore[NST101]\ny = W\n"),
        ("#!/usr/bin/python\n# coding: utf-8\ny = W\n", "#!/usr/bin/python\n# coding: utf-8\n@\ny = W\n"),
        ('"""About."""\ny = W\n', '@\n"""About."""\ny = W\n'),
        (
            "x = 1\n# nonstrict: file-ignore[NST201]\ny = W\n",
            "x = 1\n# nonstrict: file-ignore[NST201, NST101]\ny = W\n",
        ),
    ],
)
def test_suppressed_in_its_file(text: str, expected: str):
    edit = suppress_in_file(source(text), at(text, "W"), "NST101", CODES)
    assert edited(text, edit) == expected.replace("@", "# nonstrict: file-ignore[NST101]")


@pytest.mark.parametrize(
    ("text", "comment", "idle", "expected"),
    [
        ("y = 1  # nonstrict: ignore[NST101]\nz\n", "# nonstrict: ignore[NST101]", {"NST101"}, "y = 1\nz\n"),
        ("y = 1  # nonstrict: ignore[NST101]  reason\n", "# nonstrict: ignore[NST101]", {"NST101"}, "y = 1\n"),
        ("y  # nonstrict: ignore[NST101] # noqa\n", "# nonstrict: ignore[NST101]", {"NST101"}, "y  # noqa\n"),
        (
            "y  # nonstrict: ignore[NST101, NST201]\n",
            "# nonstrict: ignore[NST101, NST201]",
            {"NST101"},
            "y  # nonstrict: ignore[NST201]\n",
        ),
        (
            "y  # nonstrict: ignore[global-tensor-capture, NST201]\n",
            "# nonstrict: ignore[global-tensor-capture, NST201]",
            {"NST101"},
            "y  # nonstrict: ignore[NST201]\n",
        ),
        (
            "y  # nonstrict: ignore[nope, NST201]\n",
            "# nonstrict: ignore[nope, NST201]",
            {"nope"},
            "y  # nonstrict: ignore[NST201]\n",
        ),
        ("y  # noqa: NST101, E501\n", "# noqa: NST101, E501", {"NST101"}, "y  # noqa: E501\n"),
        ("# nonstrict: ignore\ny\n", "# nonstrict: ignore", set(), "y\n"),
        ("y\n    # nonstrict: file-ignore[NST1]\n", "# nonstrict: file-ignore[NST1]", {"NST1"}, "y\n"),
    ],
)
def test_removed(text: str, comment: str, idle: set[str], expected: str):
    assert edited(text, remove_suppression(source(text), at(text, comment), idle, CODES)) == expected


def test_suppressed_with_a_reason():
    text = "y = x * W\n"
    place = at(text, "W")
    edit = suppress_on_line(source(text), place, "NST101", CODES, "never rebound")
    assert edited(text, edit) == "y = x * W  # nonstrict: ignore[NST101]  never rebound\n"
    edit = suppress_in_file(source(text), place, "NST101", CODES, "never rebound")
    assert edited(text, edit) == "# nonstrict: file-ignore[NST101]  never rebound\ny = x * W\n"


def test_a_suppression_that_is_there_keeps_its_reason():
    text = "y = x * W  # nonstrict: ignore[NST201]  seen\n"
    edit = suppress_on_line(source(text), at(text, "W"), "NST101", CODES, "never rebound")
    assert edited(text, edit) == "y = x * W  # nonstrict: ignore[NST201, NST101]  seen\n"
