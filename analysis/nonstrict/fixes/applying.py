"""Makes edits in the bytes of a file: what is outside of them stays byte for byte.

The encoding, a byte order mark, line ends, form feeds and a missing end of the last line are kept. Edits speak of
rows and columns as users do; those of a notebook are made in the text of its cells, within the JSON around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.text.decode import lossless
from nonstrict.text.source import SourceKind, source_kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.findings import Applicability, LocatedEdit, LocatedFix, Location

_LINE_END = re.compile(r"\r\n|\r|\n")


class CannotApply(Exception):  # noqa: N818 - the name says what the edits are
    """Edits that cannot be made in a file; the message says why."""


class Replacement(NamedTuple):
    """A range of a text, in characters, the end exclusive, and what takes its place."""

    start: int
    end: int
    text: str


# -- one file ---------------------------------------------------------------------------------------------------------


def applied(path: str, data: bytes, edits: Iterable[LocatedEdit]) -> bytes:
    """The bytes of a file with some edits made in it.

    Raises:
        CannotApply: the edits overlap or lie outside of the file, or its encoding cannot hold them.
    """
    encoded = lossless(data)
    if encoded is None:
        raise CannotApply(f"{path} is not valid in its encoding")
    text = with_edits(path, encoded.text, edits)
    changed = encoded.bytes_of(text)
    if changed is None:
        raise CannotApply(f"{path} is encoded in {encoded.codec}, which lacks a character that is to be written")
    again = lossless(changed)
    if again is None or again != encoded._replace(text=text):
        raise CannotApply(f"{path} would have another encoding afterwards")
    return changed


def with_edits(path: str, text: str, edits: Iterable[LocatedEdit]) -> str:
    """The text of a file, as it is on the disk, with some edits made in it.

    Raises:
        CannotApply: the edits overlap or lie outside of the file.
    """
    edits = list(edits)
    if source_kind(path) is not SourceKind.NOTEBOOK:
        return replaced(text, replacements(text, edits))
    from nonstrict.fixes.notebooks import with_cells

    by_cell: dict[int, list[LocatedEdit]] = {}
    for edit in edits:
        if edit.location.cell is None:
            raise CannotApply(f"{path} is a notebook, and the edit names no cell")
        by_cell.setdefault(edit.location.cell, []).append(edit)
    return with_cells(text, lambda number, cell: replacements(cell, by_cell.pop(number, [])), by_cell)


def replacements(text: str, edits: Iterable[LocatedEdit]) -> list[Replacement]:
    """Some edits as ranges of the text of a file or cell, in order; their line ends are those of the lines around.

    Raises:
        CannotApply: the edits overlap or lie outside of the text.
    """
    lines = _Lines(text)
    found = sorted(_replacement(text, lines, edit) for edit in edits)
    if any(one.end > other.start for one, other in pairwise(found)):
        raise CannotApply("two edits overlap")
    return found


def _replacement(text: str, lines: _Lines, edit: LocatedEdit) -> Replacement:
    start, end = lines.range(edit.location)
    line_end = lines.end_of(edit.location.row)
    first = line_end == "\n" and edit.text.startswith("\n") and text[start - 1 : start] == "\r"
    last = line_end == "\r" and edit.text.endswith("\n") and text[end : end + 1] == "\n"
    if first or last:
        line_end = "\r\n"  # else it would be one line end with its neighbour
    return Replacement(start, end, edit.text.replace("\n", line_end))


def replaced(text: str, found: Sequence[Replacement]) -> str:
    """A text with replacements made, which are in order and do not overlap."""
    parts: list[str] = []
    position = 0
    for start, end, new in found:
        parts += (text[position:start], new)
        position = end
    return "".join((*parts, text[position:]))


class _Lines:
    """Where the lines of a text begin and how they end; what separates them is what does so for Python."""

    def __init__(self, text: str) -> None:
        ends = list(_LINE_END.finditer(text))
        self._starts = [0, *(end.end() for end in ends)]
        self._stops = [*(end.start() for end in ends), len(text)]
        self._ends = [end.group() for end in ends]

    def range(self, where: Location) -> tuple[int, int]:
        start, end = self._offset(where.row, where.column), self._offset(where.end_row, where.end_column)
        if end < start:
            raise CannotApply(f"the range {where.row}:{where.column} ends before it starts")
        return start, end

    def _offset(self, row: int, column: int) -> int:
        if not 1 <= row <= len(self._starts) or column < 1:
            raise CannotApply(f"there is no line {row}")
        offset = self._starts[row - 1] + column - 1
        if offset > self._stops[row - 1]:
            raise CannotApply(f"line {row} has no column {column}")
        return offset

    def end_of(self, row: int) -> str:
        """How a line ends; the last one, as the line before it would."""
        if not self._ends:
            return "\n"
        return self._ends[min(row, len(self._ends)) - 1]


# -- several fixes ----------------------------------------------------------------------------------------------------


def applicable(fixes: Iterable[LocatedFix], least: Applicability) -> LocatedFix | None:
    """The fix that is applied where those of at least some applicability are: the best of them, if there is any."""
    return next((fix for fix in fixes if fix.applicability >= least), None)


class Places:
    """The ranges that are already to be edited: which further fixes can be made in the same text."""

    def __init__(self) -> None:
        """Nothing is taken yet."""
        self._taken: dict[tuple[str, int | None], list[tuple[tuple[int, int], tuple[int, int]]]] = {}

    def take(self, fix: LocatedFix) -> bool:
        """Take the ranges of a fix, all or none: False if one touches what is taken."""
        ranges = [(_file(edit.location), *_ends(edit.location)) for edit in fix.edits]
        if any(not self._free(*one) for one in ranges):
            return False
        for file, start, end in ranges:
            known = self._taken.setdefault(file, [])
            known.insert(bisect_right(known, (start, end)), (start, end))
        return True

    def _free(self, file: tuple[str, int | None], start: tuple[int, int], end: tuple[int, int]) -> bool:
        known = self._taken.get(file, ())
        index = bisect_right(known, (start, end))
        # What is taken is apart, so that only the neighbours can touch.
        return not any(one[0] <= end and start <= one[1] for one in known[max(index - 1, 0) : index + 1])


def _file(where: Location) -> tuple[str, int | None]:
    return where.path, where.cell


def _ends(where: Location) -> tuple[tuple[int, int], tuple[int, int]]:
    return (where.row, where.column), (where.end_row, where.end_column)


def moved(where: Location, edits: Iterable[LocatedEdit]) -> tuple[int, int]:
    """Row and column of the start of a location once some edits are made; what is replaced counts as its start."""
    position = (where.row, where.column)
    rows = columns = row = 0
    for edit in sorted(edits, key=lambda edit: _ends(edit.location)):
        if _file(edit.location) != _file(where):
            continue
        start, end = _ends(edit.location)
        if start > position:
            break
        new_start = (start[0] + rows, start[1] + (columns if start[0] == row else 0))
        if end > position:
            return new_start
        lines = edit.text.split("\n")
        new_end = (new_start[0] + len(lines) - 1, len(lines[-1]) + (new_start[1] if len(lines) == 1 else 1))
        rows, columns, row = new_end[0] - end[0], new_end[1] - end[1], end[0]
    return position[0] + rows, position[1] + (columns if position[0] == row else 0)


# -- as lines ---------------------------------------------------------------------------------------------------------


class Hunk(NamedTuple):
    """Whole lines that edits change: from `row` on (from 1), `old` lines become `new` ones, without line ends."""

    row: int
    old: tuple[str, ...]
    new: tuple[str, ...]


def hunks(lines: Sequence[str], edits: Iterable[LocatedEdit]) -> list[Hunk]:
    """What some edits, which do not overlap, do to the lines of a file or cell, from the top."""
    groups: list[list[LocatedEdit]] = []
    last = 0
    for edit in sorted(edits, key=lambda edit: _ends(edit.location)):
        if groups and edit.location.row <= last:
            groups[-1].append(edit)
        else:
            groups.append([edit])
        last = max(last, edit.location.end_row)
    return [hunk for group in groups if (hunk := _hunk(lines, group)) is not None]


def _hunk(lines: Sequence[str], edits: list[LocatedEdit]) -> Hunk | None:
    first = edits[0].location.row
    last = max(edit.location.end_row for edit in edits)
    if last > len(lines):
        return None
    old = list(lines[first - 1 : last])
    moved = [
        edit._replace(
            location=edit.location._replace(
                row=edit.location.row - first + 1, end_row=edit.location.end_row - first + 1
            )
        )
        for edit in edits
    ]
    text = "\n".join(old)
    new = replaced(text, replacements(text, moved)).split("\n")
    while old and new and old[0] == new[0]:
        del old[0], new[0]
        first += 1
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return Hunk(first, tuple(old), tuple(new))
