"""Whatever a file holds, reading it gives a source that parses, or a reason why not."""

from __future__ import annotations

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.findings import Span
from nonstrict.text.lexer import statement_end
from nonstrict.text.notebook import masked_cell
from nonstrict.text.source import UnreadableSource, repaired, source_from_bytes
from nonstrict.text.suppressions import suppressions

# fmt: off
PIECES = st.sampled_from(
    [
        'def f(x):', '\n', '\n    ', '\t', 'return x', '(', ')', '[',
        ']', "'", '"""', 'x', ' = ', '1', '#', '@',
        ':', '\\', 'é', '😀', '\r', '\r\n', '\x0c', '\x00',
        '```', '```python\n', '~~~', '>>> ', '... ', '{code-cell}', 'if ', 'else',
        'class A:', '%time ', '!ls', '?', '# nonstrict: ignore[NST201]', '# noqa', '# coding: latin-1\n', '\ufeff',
        '\u2028', '---\n', '> ', 'try:', 'except E:', 'import a', 'lambda', '.. code-block:: python\n\n',
        '   ', 'async ', 'await ', ';', ',', '.', "f'{",
    ]
)
# fmt: on
TEXTS = st.one_of(st.text(), st.lists(PIECES, max_size=60).map("".join))
PATHS = st.sampled_from(["a.py", "a.md", "a.txt", "a.rst"])


def check(path: str, data: bytes) -> None:
    try:
        source = source_from_bytes(path, data)
    except UnreadableSource:
        return
    fixed = repaired(source)
    ast.parse(fixed.code)
    assert fixed.code.count("\n") == source.code.count("\n")
    assert fixed.origins is None or len(fixed.origins) == fixed.code.count("\n") + 1
    spans = [problem.span for problem in fixed.problems]
    for span in [*spans, Span(path, 1, 0, 10**6, 10**6), Span(path, 10**6, 9, 1, 0)]:
        place = fixed.locate(span)
        assert place.column <= len(fixed.line_text(place.row, place.cell)) + 1
        assert (place.end_row, place.end_column) >= (place.row, place.column)
    found = suppressions(fixed, {})
    found.covers("NST201", 1, 2)
    for span, _ in found.unused():
        fixed.locate(span)


@settings(max_examples=300, deadline=None)
@given(PATHS, st.binary(max_size=300))
def test_any_bytes(path: str, data: bytes) -> None:
    check(path, data)


@settings(max_examples=500, deadline=None)
@given(PATHS, TEXTS)
def test_any_text(path: str, text: str) -> None:
    check(path, text.encode("utf-8", "replace"))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["code", "markdown"]), TEXTS), max_size=5))
def test_any_notebook(cells: list[tuple[str, str]]) -> None:
    content = {"cells": [{"cell_type": kind, "source": text} for kind, text in cells]}
    check("a.ipynb", json.dumps(content).encode())


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_masking_moves_nothing(text: str) -> None:
    text = text.replace("\r", "")
    masked = masked_cell(text)
    assert [len(line) for line in masked.split("\n")] == [len(line) for line in text.split("\n")]


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_logical_lines_move_on(text: str) -> None:
    position = 0
    while position < len(text):
        end = statement_end(text, position)
        assert end > position
        position = end


@pytest.mark.parametrize(
    "encoding", ["latin-1", "cp1252", "shift_jis", "utf-7", "raw_unicode_escape", "rot13", "idna", "mbcs"]
)
@settings(max_examples=30, deadline=None)
@given(data=st.binary(max_size=100))
def test_any_cookie(encoding: str, data: bytes) -> None:
    check("a.py", f"# coding: {encoding}\n".encode() + data)
