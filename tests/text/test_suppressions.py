"""Suppression comments: which lines and codes they cover, and which are reported as unused."""

from __future__ import annotations

import pytest

from nonstrict.text.source import source_from_bytes
from nonstrict.text.suppressions import Suppressions, suppressions

NAMES = {"io-side-effect": "NST201", "captured-scalar": "NST102"}


def read(code: str, path: str = "a.py") -> Suppressions:
    return suppressions(source_from_bytes(path, code.encode()), NAMES)


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# nonstrict: ignore[NST201]", {"NST201"}),
        ("# nonstrict: ignore[NST201] because", {"NST201"}),
        ("#nonstrict:ignore[ nst201 , captured-scalar ]", {"NST201", "NST102"}),
        ("# nonstrict: ignore[io-side-effect]", {"NST201"}),
        ("# nonstrict: ignore[NST2]", {"NST201"}),
        ("# nonstrict: ignore", {"NST201", "NST102"}),
        ("# nonstrict: ignore because of this", {"NST201", "NST102"}),
        ("# nonstrict: ignore NST201", {"NST201"}),
        ("# nonstrict: ignore[]", set[str]()),
        ("# noqa", {"NST201", "NST102"}),
        ("# NOQA: NST201", {"NST201"}),
        ("# noqa: E501, NST201", {"NST201"}),
        ("# noqa: E501", set[str]()),
        ("# noqa: all is well", set[str]()),
        ("# type: ignore # noqa: NST201", {"NST201"}),
        ("# ruff: noqa", set[str]()),
        ("# about nonstrict: ignored", set[str]()),
        ("'# nonstrict: ignore'", set[str]()),
    ],
)
def test_what_a_comment_covers(comment: str, codes: set[str]) -> None:
    found = read(f"x = 1\ny = 2  {comment}\nz = 3\n")
    assert {code for code in NAMES.values() if found.covers(code, 2)} == codes
    assert not found.covers("NST201", 1)
    assert not found.covers("NST201", 3)


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("# nonstrict: ignore\nx = f(\n    a,\n    b,\n)\ny = 1\n", {1, 2, 3, 4, 5}),
        ("# nonstrict: ignore\n# why\nx = f(\n    a)\ny = 1\n", {1, 2, 3, 4}),
        ("x = f(\n    # nonstrict: ignore\n    a,\n    b,\n)\n", {2, 3}),
        ("x = f(\n    a,  # nonstrict: ignore\n    b,\n)\n", {2}),
        ("x = f(\n    a,\n)  # nonstrict: ignore\ny = 1\n", {1, 2, 3}),
        ("# nonstrict: ignore\n@a\n@b\ndef f(\n    x):\n    return x\n", {1, 2, 3, 4, 5}),
        ("# nonstrict: ignore\n\nx = 1\n", {1, 2}),
        ("x = 1\n# nonstrict: ignore\n", {2, 3}),
        ("x = '''\n# nonstrict: ignore\n'''\n", set[int]()),
        ("a = 1\n# nonstrict: file-ignore[NST201]\nb = 1\n", {1, 2, 3, 4}),
    ],
)
def test_which_lines_a_comment_covers(code: str, rows: set[int]) -> None:
    found = read(code)
    assert {row for row in range(1, code.count("\n") + 2) if found.covers("NST201", row)} == rows


def test_a_comment_on_the_last_line_of_a_finding_counts() -> None:
    found = read("x = f(a,\n      b)  # nonstrict: ignore[NST201]\n")
    assert found.covers("NST201", 1, 2)


def test_unused_ones_are_told_with_their_place() -> None:
    found = read(
        "x = 'é'  # nonstrict: ignore[NST201, NST102]\ny = 2  # noqa: NST999\n"
        "z = 3  # noqa\nw = 4  # nonstrict: ignore\n"
    )
    assert found.covers("NST201", 1)
    assert not found.covers("NST902", 4)
    unused = found.unused()
    assert [codes for _, codes in unused] == [("NST102",), ("NST999",), ()]
    place = unused[0][0]
    assert (place.line, place.column, place.end_column) == (1, 10, 45)
    found.covers("NST201", 4)
    assert [span.line for span, _ in found.unused()] == [1, 2]


def test_comments_in_pages_and_notebooks_count() -> None:
    page = read("Text # nonstrict: ignore\n```python\nx = 1  # nonstrict: ignore\n```\n", "a.md")
    assert page.covers("NST201", 3)
    assert not page.covers("NST201", 1)
