"""Positions in the units of the client: utf-8, utf-16 and utf-32, surrogate pairs, line ends, notebooks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types as lsp

from nonstrict.findings import Location
from nonstrict.text.source import source_from_bytes
from nonstrict_server.buffers import Buffer
from nonstrict_server.positions import places_of, point_of, points_of, units_of

ENCODINGS = ("utf-8", "utf-16", "utf-32")
LINE = 'é = "😀𝕏" + 漢'
#: Units before each code point of the line, and behind the last one.
UNITS = {
    "utf-8": [0, 2, 3, 4, 5, 6, 10, 14, 15, 16, 17, 18, 21],
    "utf-16": [0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 13, 14],
    "utf-32": list(range(13)),
}


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_units_and_code_points_of_a_line(encoding: str):
    assert [units_of(LINE, points, encoding) for points in range(len(LINE) + 1)] == UNITS[encoding]
    assert [points_of(LINE, units, encoding) for units in UNITS[encoding]] == list(range(len(LINE) + 1))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_positions_outside_a_line_lie_at_its_ends(encoding: str):
    assert points_of(LINE, 99, encoding) == len(LINE)
    assert units_of(LINE, 99, encoding) == UNITS[encoding][-1]
    assert points_of(LINE, -1, encoding) == units_of(LINE, -1, encoding) == 0


def test_a_position_within_a_character_is_before_it():
    assert points_of("😀x", 1, "utf-16") == 0
    assert [points_of("😀x", units, "utf-8") for units in range(6)] == [0, 0, 0, 0, 1, 2]


def test_half_of_a_surrogate_pair_does_not_matter():
    line = 'x = "\ud83d"; y'
    for encoding in ENCODINGS:
        assert points_of(line, units_of(line, 8, encoding), encoding) == 8


@given(st.text(max_size=30), st.integers(0, 30), st.sampled_from(ENCODINGS))
def test_there_and_back(line: str, points: int, encoding: str):
    points = min(points, len(line))
    assert points_of(line, units_of(line, points, encoding), encoding) == points


@pytest.mark.parametrize(("encoding", "start", "end"), [("utf-8", 6, 12), ("utf-16", 4, 7), ("utf-32", 4, 6)])
def test_the_range_of_a_location(encoding: str, start: int, end: int):
    source = source_from_bytes("a.py", "x = 1\r\néé =😀é\r\n".encode())
    assert places_of(Location("a.py", 2, 5, 2, 7), source, encoding) == (1, start, 1, end)
    assert point_of(lsp.Position(1, start), source, None, encoding) == (2, 5)
    assert point_of(lsp.Position(1, end), source, None, encoding) == (2, 7)


def test_columns_of_a_notebook_count_in_its_cell():
    cells = [{"cell_type": "markdown", "source": "é"}, {"cell_type": "code", "source": "a = 1\n😀 = b"}]
    source = source_from_bytes("n.ipynb", json.dumps({"cells": cells, "metadata": {}}).encode())
    location = Location("n.ipynb", 2, 5, 2, 6, 2)
    assert places_of(location, source, "utf-16") == (1, 5, 1, 6)
    assert point_of(lsp.Position(1, 5), source, 2, "utf-16") == (2, 5)


def change(start: tuple[int, int], end: tuple[int, int], text: str) -> lsp.TextDocumentContentChangePartial:
    return lsp.TextDocumentContentChangePartial(lsp.Range(lsp.Position(*start), lsp.Position(*end)), text)


@pytest.mark.parametrize(
    ("text", "start", "end", "new", "expected"),
    [
        ("a\nb\n", (1, 0), (1, 1), "c", "a\nc\n"),
        ("a\nb", (0, 1), (1, 0), "", "ab"),
        ("a\r\nb\r\n", (0, 1), (1, 0), "", "ab\r\n"),
        ("a", (5, 0), (5, 0), "\nb", "a\nb"),
        ("a\n", (1, 0), (1, 0), "b", "a\nb"),
        ("", (0, 0), (0, 0), "x\n", "x\n"),
        ("a\x0cb\u2028c\nd\n", (1, 0), (1, 1), "e", "a\x0cb\u2028c\ne\n"),
        ("😀b\n", (0, 2), (0, 3), "c", "😀c\n"),
        ("a\rx\nb\n", (1, 0), (1, 1), "", "a\r\nb\n"),
        ("a\nb\nc\n", (0, 0), (3, 0), "", ""),
        ("ab\ncd\n", (0, 9), (0, 9), "!", "ab!\ncd\n"),
    ],
)
def test_a_change_of_a_range(text: str, start: tuple[int, int], end: tuple[int, int], new: str, expected: str):
    buffer = Buffer(text, 1, "utf-16")
    buffer.apply([change(start, end, new)], 2)
    assert (buffer.text, buffer.version) == (expected, 2)
    # What follows counts in the lines as they are now.
    lines = expected.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    buffer.apply([change((len(lines) - 1, 0), (len(lines) - 1, 0), "#")], 3)
    assert buffer.text == expected[: len(expected) - len(lines[-1])] + "#" + lines[-1]


ALPHABET = st.text("ab😀é\r\n", max_size=6)


def offset_of(text: str, line: int, units: int) -> int:
    """The offset of a utf-16 position, the slow and plain way."""
    at = 0
    for _ in range(line):
        ends = [place for place in (text.find("\r", at), text.find("\n", at)) if place >= 0]
        if not ends:
            return len(text)
        at = min(ends) + (2 if text.startswith("\r\n", min(ends)) else 1)
    taken = 0
    while at < len(text) and text[at] not in "\r\n":
        taken += 2 if text[at] > "\uffff" else 1
        if taken > units:
            break
        at += 1
    return at


@given(ALPHABET, st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(0, 3), ALPHABET), max_size=6))
def test_any_changes_lead_to_the_text_that_they_mean(text: str, edits: list[tuple[int, int, int, str]]):
    buffer = Buffer(text, 1, "utf-16")
    for line, units, width, new in edits:
        first, last = offset_of(text, line, units), offset_of(text, line, units + width)
        buffer.apply([change((line, units), (line, units + width), new)], 2)
        text = text[:first] + new + text[last:]
        assert buffer.text == text
