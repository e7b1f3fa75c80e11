"""Code frames: the lines around a range, with a gutter of row numbers and carets below the range."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Location, Severity
    from nonstrict.report.context import Lines
    from nonstrict.report.style import Style

CONTEXT_LINES = 2
_TAB = 4
_MAX_ROWS = 8
_MAX_WIDTH = 160


def gutter_width(location: Location, *rows: int) -> int:
    """Characters that the row numbers of a frame, and further rows, take."""
    return len(str(max((location.end_row + CONTEXT_LINES, *rows))))


class Row(NamedTuple):
    """A row of a frame with its text; None stands for the rows in the middle of a long range, from `number` on."""

    number: int
    text: str | None


def rows(location: Location, lines: Lines) -> Iterator[Row]:
    """The rows that a frame shows of a range and around it; nothing where the file can no longer be read."""
    path, cell = location.path, location.cell
    first, last = max(location.row - CONTEXT_LINES, 1), location.end_row
    if lines.line(path, location.row, cell) is None:
        return
    left_out = range(location.row + _MAX_ROWS // 2, last - _MAX_ROWS // 2 + 1)
    for row in range(first, last + CONTEXT_LINES + 1):
        if row in left_out:
            if row == left_out.start:
                yield Row(row, None)
            continue
        text = lines.line(path, row, cell)
        if text is not None and (row <= last or _worth_showing(text, row, last, lines, location)):
            yield Row(row, text)


def frame(
    location: Location, lines: Lines, style: Style, severity: Severity, width: int | None = None
) -> Iterator[str]:
    """The lines of the frame of a range, its gutter `width` wide; nothing where the file can no longer be read."""
    found = list(rows(location, lines))
    if not found:
        return
    width = gutter_width(location) if width is None else width
    bar = style.paint("blue", "|")
    yield f"{' ' * width} {bar}"
    last = location.end_row
    several = last > location.row
    margin = "  " if several else ""
    for row, text in found:
        if text is None:
            yield style.paint("blue", "..." + " " * max(width - 2, 0)) + style.severity(severity, "|")
            continue
        number = style.paint("blue", f"{row:>{width}}")
        edge = style.severity(severity, "| ") if several and location.row < row <= last else margin
        shown, _ = _expanded(text, len(text))
        yield f"{number} {bar} {edge}{_cut(shown)}".rstrip()
        if row in (location.row, last):
            mark = _mark(text, row, location)
            if mark:
                yield f"{' ' * width} {bar} {style.severity(severity, mark)}"
    yield f"{' ' * width} {bar}"


def _worth_showing(text: str, row: int, last: int, lines: Lines, location: Location) -> bool:
    """Whether a line after the range is shown: not where only blank lines follow."""
    if text.strip():
        return True
    return any(
        (lines.line(location.path, later, location.cell) or "").strip()
        for later in range(row + 1, last + CONTEXT_LINES + 1)
    )


def _mark(text: str, row: int, location: Location) -> str:
    """What stands below a row of the range: carets, or the ends of a bracket around several lines."""
    _, start = _expanded(text, location.column - 1)
    _, end = _expanded(text, location.end_column - 1)
    if location.row == location.end_row:
        start = min(start, _MAX_WIDTH)
        return " " * start + "^" * max(min(end, _MAX_WIDTH) - start, 1)
    if row == location.row:
        return f" {'_' * (min(start, _MAX_WIDTH) + 1)}^"
    return f"|{'_' * max(min(end, _MAX_WIDTH), 1)}^"


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 3] + "..."


def _expanded(text: str, points: int) -> tuple[str, int]:
    """The text as a terminal shows it, tabs expanded, and the columns that its first code points take."""
    if text.isascii() and text.isprintable():
        return text, min(points, len(text))
    shown: list[str] = []
    column = width_before = 0
    for index, character in enumerate(text):
        if index == points:
            width_before = column
        piece, columns = _cells(character, column)
        shown.append(piece)
        column += columns
    return "".join(shown), width_before if points < len(text) else column


def _cells(character: str, column: int) -> tuple[str, int]:
    """A character as shown, and how many columns it takes."""
    if character == "\t":
        width = _TAB - column % _TAB
        return " " * width, width
    if character.isascii():
        return (character, 1) if character.isprintable() else ("\N{REPLACEMENT CHARACTER}", 1)
    from unicodedata import combining, east_asian_width

    if combining(character) or character == "\N{ZERO WIDTH JOINER}":
        return character, 0
    if not character.isprintable() and character != "\N{NO-BREAK SPACE}":
        return "\N{REPLACEMENT CHARACTER}", 1
    return character, 2 if east_asian_width(character) in "WF" else 1
