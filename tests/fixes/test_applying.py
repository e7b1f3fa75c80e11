"""Edits in the bytes of files: what they make, and that nothing else is touched."""

from __future__ import annotations

import codecs
import json

import pytest

from nonstrict.findings import Applicability, LocatedEdit, LocatedFix, Location
from nonstrict.fixes.applying import CannotApply, Hunk, Places, applied, hunks, moved


def edit(text: str, row: int, column: int, end: tuple[int, int] | None = None, cell: int | None = None) -> LocatedEdit:
    return LocatedEdit(Location("a.py", row, column, *(end or (row, column)), cell), text)


def made(data: bytes, *edits: LocatedEdit, path: str = "a.py") -> bytes:
    return applied(path, data, edits)


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        (b"a = 1\n", edit("b", 1, 1, (1, 2)), b"b = 1\n"),
        (b"a = 1", edit("\nb = 2", 1, 6), b"a = 1\nb = 2"),
        (b"a\r\nb\r\n", edit("x\ny\n", 2, 1), b"a\r\nx\r\ny\r\nb\r\n"),
        (b"a\rb\r", edit("\nx", 1, 2), b"a\rx\rb\r"),
        (b"a\r\nb\nc\n", edit("x\n", 1, 1), b"x\r\na\r\nb\nc\n"),
        (b"a\r\nb\nc\n", edit("x\n", 3, 1), b"a\r\nb\nx\nc\n"),
        (b"a\r\nb", edit("\nx", 2, 2), b"a\r\nb\r\nx"),
        (b"a\r\nb\r\nc\r\n", edit("", 2, 1, (3, 1)), b"a\r\nc\r\n"),
        (codecs.BOM_UTF8 + b"a = 1\n", edit("b", 1, 1, (1, 2)), codecs.BOM_UTF8 + b"b = 1\n"),
        (
            "# coding: latin-1\né = 'ü'\n".encode("latin-1"),
            edit("ä", 2, 6, (2, 7)),
            "# coding: latin-1\né = 'ä'\n".encode("latin-1"),
        ),
        (
            codecs.BOM_UTF8 + b"# coding: utf-8-sig\nx = 1\n",
            edit("y", 2, 1, (2, 2)),
            codecs.BOM_UTF8 + b"# coding: utf-8-sig\ny = 1\n",
        ),
        ("日本 = 1 # 😀\n".encode(), edit(" = 2", 1, 3, (1, 7)), "日本 = 2 # 😀\n".encode()),
        (b"x = 1\n\x0c\ndef f(): ...\n", edit("g", 3, 5, (3, 6)), b"x = 1\n\x0c\ndef g(): ...\n"),
        ("x = '\u2028\x0b'\ny\n".encode(), edit("z", 2, 1, (2, 2)), "x = '\u2028\x0b'\nz\n".encode()),
        (b"", edit("import a\n", 1, 1), b"import a\n"),
    ],
)
def test_one_edit(before: bytes, change: LocatedEdit, after: bytes):
    assert made(before, change) == after


def test_several_edits_in_any_order():
    edits = (edit("y", 2, 1, (2, 2)), edit("x", 1, 1, (1, 2)), edit("!", 1, 2))
    assert made(b"a\nb\n", *edits) == b"x!\ny\n"


@pytest.mark.parametrize(
    ("data", "edits", "reason"),
    [
        (b"abc\n", (edit("", 1, 1, (1, 3)), edit("", 1, 2, (1, 4))), "overlap"),
        (b"abc\n", (edit("", 3, 1),), "no line 3"),
        (b"abc\n", (edit("", 1, 5),), "no column 5"),
        (b"abc\n", (edit("", 1, 3, (1, 2)),), "ends before"),
        (b"\xff\xfe\xfd = 1\n", (edit("", 1, 1),), "not valid"),
        (b"# coding: ascii\nx = 1\n", (edit("é", 2, 1, (2, 2)),), "lacks a character"),
        (b"# coding: latin-1\n\xe9 = 1\n", (edit("#\n#\n", 1, 1),), "another encoding"),
    ],
)
def test_what_cannot_be_made(data: bytes, edits: tuple[LocatedEdit, ...], reason: str):
    with pytest.raises(CannotApply, match=reason):
        made(data, *edits)


def notebook(source: str, **rest: str) -> bytes:
    cell = '{\n   "cell_type": "code",  "source" : ' + source + ',\n "outputs": [ ],"metadata":{"a":1.50}}'
    prose = '{"cell_type": "markdown", "source": ["# T\\u00e4\\n"]}'
    return f'{{"cells": [{prose},\n {cell}],\n "metadata": {{}}, "nbformat": 4}}\n'.encode()


@pytest.mark.parametrize(
    ("before", "change", "after"),
    [
        ('["a = 1\\n", "b = 2"]', edit("c", 2, 1, (2, 2), 2), '["a = 1\\n", "c = 2"]'),
        ('[\n    "a\\n",\n    "b"\n   ]', edit("\nx", 1, 2, None, 2), '[\n    "a\\n",\n    "x\\n",\n    "b"\n   ]'),
        ('[\n "a"\n]', edit("\nx", 1, 2, None, 2), '[\n "a\\n",\n "x"\n]'),
        ('["a\\n", "b\\n", "c"]', edit("", 1, 1, (3, 1), 2), '["c"]'),
        ('["a\\n", "\\u00e4 = b"]', edit("c", 1, 1, (1, 2), 2), '["c\\n", "\\u00e4 = b"]'),
        ('["\\u00e4 = b"]', edit("c", 1, 5, (1, 6), 2), '["\\u00e4 = c"]'),
        ('["ä = b"]', edit("c", 1, 5, (1, 6), 2), '["ä = c"]'),
        ('"a\\nb"', edit("c", 2, 1, (2, 2), 2), '"a\\nc"'),
        ('["a\\r\\n", "b"]', edit("\nx", 1, 2, None, 2), '["a\\r\\n", "x\\r\\n", "b"]'),
        ('["im", "port a"]', edit("b", 1, 8, (1, 9), 2), '["im", "port b"]'),
        ('["im", "port a"]', edit("from", 1, 1, (1, 7), 2), '["from a"]'),
        ("[]", edit("x = 1", 1, 1, None, 2), '["x = 1"]'),
    ],
)
def test_only_the_text_of_the_cell_is_written_anew(before: str, change: LocatedEdit, after: str):
    assert made(notebook(before), change, path="a.ipynb") == notebook(after)


def test_cells_of_format_3():
    data = b'{"worksheets": [{"cells": [{"cell_type": "code", "input": ["a\\n", "b"]}]}], "nbformat": 3}'
    assert made(data, edit("c", 2, 1, (2, 2), 1), path="a.ipynb") == data.replace(b'"b"', b'"c"')


def test_indentation_of_the_json_is_kept():
    cells = [{"cell_type": "code", "source": ["x = 1\n", "y"], "outputs": []}]
    for indent in (None, 1, 4, "\t"):
        data = json.dumps({"cells": cells, "nbformat": 4}, indent=indent).encode()
        assert made(data, edit("z", 2, 1, (2, 2), 1), path="a.ipynb") == data.replace(b'"y"', b'"z"')


@pytest.mark.parametrize(
    ("data", "number"), [(b'{"cells": []}', 1), (b'{"cells": [{"cell_type": "code"}]}', 1), (b"{", 1), (b"[]", 1)]
)
def test_notebooks_without_the_cell(data: bytes, number: int):
    with pytest.raises(CannotApply):
        made(data, edit("", 1, 1, None, number), path="a.ipynb")


def test_pages():
    page = "# Über\n\n```python\nimport a\n```\n\ntext\n"
    assert made(page.encode(), edit("b", 4, 8, (4, 9)), path="a.md").decode() == page.replace("import a", "import b")


def fix(*edits: LocatedEdit) -> LocatedFix:
    return LocatedFix("Mend it", Applicability.SAFE, edits)


def test_fixes_that_touch_are_not_made_together():
    places = Places()
    assert places.take(fix(edit("x", 3, 1, (3, 5)), edit("y", 9, 1)))
    assert not places.take(fix(edit("z", 3, 5)))
    assert not places.take(fix(edit("z", 2, 1, (3, 1))))
    assert not places.take(fix(edit("z", 1, 1), edit("z", 9, 1)))
    assert places.take(fix(edit("z", 1, 1)))
    assert places.take(fix(edit("z", 3, 6)))
    assert places.take(fix(edit("z", 3, 1, (3, 5), cell=2)))
    assert not places.take(fix(edit("z", 1, 1, (20, 1))))


@pytest.mark.parametrize(
    ("edits", "expected"),
    [
        ((), (5, 4)),
        ((edit("a\nb\n", 2, 1),), (7, 4)),
        ((edit("", 2, 1, (4, 1)),), (3, 4)),
        ((edit("ab", 5, 1),), (5, 6)),
        ((edit("ab", 5, 4),), (5, 6)),
        ((edit("ab", 5, 5),), (5, 4)),
        ((edit("x\ny", 4, 3, (5, 2)),), (5, 4)),
        ((edit("xyz", 5, 2, (5, 9)),), (5, 2)),
        ((edit("x", 5, 1), edit("\n", 5, 2)), (6, 3)),
        ((edit("a\n", 1, 1, None, 3),), (5, 4)),
    ],
)
def test_where_a_place_is_afterwards(edits: tuple[LocatedEdit, ...], expected: tuple[int, int]):
    assert moved(Location("a.py", 5, 4, 5, 8), edits) == expected


def test_edits_as_lines():
    lines = ["a", "b", "c", "d"]
    assert hunks(lines, [edit("\nx", 1, 2)]) == [Hunk(2, (), ("x",))]
    assert hunks(lines, [edit("", 2, 1, (3, 1))]) == [Hunk(2, ("b",), ())]
    assert hunks(lines, [edit("x", 1, 1), edit("y", 1, 2), edit("z", 4, 1, (4, 2))]) == [
        Hunk(1, ("a",), ("xay",)),
        Hunk(4, ("d",), ("z",)),
    ]
    assert hunks(lines, [edit("x", 9, 1)]) == []
