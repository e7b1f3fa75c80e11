"""Between positions of the analysis (rows and code points from 1) and those of the protocol, in the client's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from nonstrict.findings import Location
    from nonstrict.text.source import Source

#: Start line, start character, end line, end character, as the protocol counts.
Places = tuple[int, int, int, int]

_PIECE = 4096


class Point(NamedTuple):
    """A row and a column as the analysis counts: from 1, columns in code points."""

    row: int
    column: int


def units_of(line: str, points: int, encoding: str) -> int:
    """How many units of an encoding the first `points` code points of a line take."""
    points = min(max(points, 0), len(line))
    if encoding == lsp.PositionEncodingKind.Utf32 or line.isascii():
        return points
    return _width(line[:points], encoding)


def points_of(line: str, units: int, encoding: str) -> int:
    """How many code points lie before a position of a line; within a character is before it."""
    units = max(units, 0)
    if encoding == lsp.PositionEncodingKind.Utf32 or line.isascii():
        return min(units, len(line))
    start = taken = 0
    # A line may be megabytes long: what lies before the position is counted piece by piece.
    while taken + (width := _width(line[start : start + _PIECE], encoding)) <= units and start < len(line):
        taken += width
        start += _PIECE
    for index, character in enumerate(line[start : start + _PIECE], start):
        taken += _width(character, encoding)
        if taken > units:
            return index
    return len(line)


def places_of(location: Location, source: Source | None, encoding: str) -> Places:
    """The range of a location. Without a source, columns are taken for those of plain ASCII."""
    row, column, end_row, end_column = location.row, location.column, location.end_row, location.end_column
    if source is None or encoding == lsp.PositionEncodingKind.Utf32 or source.text.isascii():
        return row - 1, column - 1, end_row - 1, end_column - 1
    cell = location.cell
    start = units_of(source.line_text(row, cell), column - 1, encoding)
    end = units_of(source.line_text(end_row, cell), end_column - 1, encoding)
    return row - 1, start, end_row - 1, end


def range_of(places: Places) -> lsp.Range:
    """The same as an object of the protocol."""
    return lsp.Range(lsp.Position(places[0], places[1]), lsp.Position(places[2], places[3]))


def point_of(position: lsp.Position, source: Source, cell: int | None, encoding: str) -> Point:
    """The place in a source that the client means."""
    line = source.line_text(position.line + 1, cell)
    return Point(position.line + 1, points_of(line, position.character, encoding) + 1)


def _width(text: str, encoding: str) -> int:
    """How many units a text takes, in the encodings in which that is not the number of its characters."""
    if encoding == lsp.PositionEncodingKind.Utf8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
