"""Whatever edits are made in whatever text: what lies outside of them stays byte for byte."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from nonstrict.findings import LocatedEdit, Location
from nonstrict.fixes.applying import CannotApply, applied

PIECES = ("a", "x = 1", " ", "\t", "\n", "\r\n", "\r", "\x0c", "\u2028", "é", "日本", "😀", "#", "'", '"', "\\", "\x85")
TEXTS = st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
#: What an edit writes: its lines end in LF.
WRITTEN = st.lists(st.sampled_from([piece for piece in PIECES if "\r" not in piece]), max_size=4).map("".join)
LINE_END = re.compile(r"\r\n|\r|\n")
#: Two cuts of a text, and what stands there instead.
CUTS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60), WRITTEN), min_size=1, max_size=4)


def places(text: str) -> list[tuple[int, int, int]]:
    """All positions of a text that users can name: offset, row, column."""
    found: list[tuple[int, int, int]] = []
    start = 0
    for row, line in enumerate(LINE_END.split(text), 1):
        found += [(start + column, row, column + 1) for column in range(len(line) + 1)]
        end = LINE_END.match(text, start + len(line))
        start = end.end() if end is not None else len(text)
    return found


def edits_of(
    text: str, cuts: list[tuple[int, int, str]], cell: int | None = None
) -> tuple[list[LocatedEdit], list[tuple[int, int, str]]]:
    """Edits that do not touch, with the offsets of their ranges."""
    known = places(text)
    edits: list[LocatedEdit] = []
    ranges: list[tuple[int, int, str]] = []
    for first, second, new in cuts:
        (start, row, column), (end, end_row, end_column) = sorted(
            (known[first % len(known)], known[second % len(known)])
        )
        if all(end < other or start > stop for other, stop, _ in ranges):
            ranges.append((start, end, new))
            edits.append(LocatedEdit(Location("a", row, column, end_row, end_column, cell), new))
    return edits, sorted(ranges)


def agrees(before: str, after: str, ranges: list[tuple[int, int, str]]) -> None:
    """What is outside of the ranges is there, in order, and between it what was written, but for its line ends."""
    position = behind = 0
    for start, end, new in ranges:
        kept = before[position:start]
        assert after[behind : behind + len(kept)] == kept
        behind += len(kept)
        for index, line in enumerate(new.split("\n")):
            if index:
                found = LINE_END.match(after, behind)
                assert found is not None
                behind = found.end()
            assert after[behind : behind + len(line)] == line
            behind += len(line)
        position = end
    assert after[behind:] == before[position:]


@settings(max_examples=300, deadline=None)
@given(TEXTS, CUTS, st.sampled_from(["", "\ufeff"]))
def test_texts(text: str, cuts: list[tuple[int, int, str]], mark: str):
    edits, ranges = edits_of(text, cuts)
    data = (mark + text).encode()
    try:
        after = applied("a.py", data, edits).decode()
    except CannotApply:
        assert "coding" in text
        return
    assert after.startswith(mark)
    agrees(text, after.removeprefix(mark), ranges)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(TEXTS, st.sampled_from(["code", "markdown"]), st.booleans()), min_size=1, max_size=4),
    CUTS,
    st.data(),
)
def test_notebooks(cells: list[tuple[str, str, bool]], cuts: list[tuple[int, int, str]], data: st.DataObject):
    made: list[dict[str, Any]] = [
        {"cell_type": kind, "source": re.split(r"(?<=\n)", text) if listed else text, "outputs": [{"text": ["é\n"]}]}
        for text, kind, listed in cells
    ]
    number = data.draw(st.integers(1, len(cells)))
    text = cells[number - 1][0]
    edits, ranges = edits_of(text, cuts, number)
    ascii_only = data.draw(st.booleans())
    raw = json.dumps(
        {"cells": made, "nbformat": 4}, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=ascii_only
    )
    after = applied("a.ipynb", raw.encode(), edits).decode()
    document = json.loads(after)
    sources = ["".join(cell["source"]) for cell in document["cells"]]
    agrees(text, sources[number - 1], ranges)
    for index, cell in enumerate(document["cells"], 1):
        if index != number:
            assert cell == made[index - 1]
        assert type(cell["source"]) is type(made[index - 1]["source"])
    before, behind = ([*text.split('"source": ')] for text in (raw, after))
    assert [*before[:number], *before[number + 1 :]] == [*behind[:number], *behind[number + 1 :]]
    rest = before[number][before[number].index('"outputs"') :]
    assert behind[number].endswith(rest)
