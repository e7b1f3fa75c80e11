"""Edits that suppress a finding, or remove a suppression: each is tried on the text before it is offered.

`codes` maps the names of rules, and all codes, to codes: what stands in a suppression may be either.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nonstrict.findings import LocatedEdit, Location
from nonstrict.text.lexer import statement_end
from nonstrict.text.source import Source, SourceKind
from nonstrict.text.suppressions import suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

_LINE = re.compile(r"#\s*nonstrict:\s*ignore\s*\[(?P<listed>[^\]]*)\]", re.IGNORECASE)
_FILE = re.compile(r"#\s*nonstrict:\s*file-ignore\s*\[(?P<listed>[^\]]*)\]", re.IGNORECASE)
_LISTED = re.compile(r"\[(?P<inside>[^\]]*)\]?|(?::|ignore\b)\s*(?P<bare>\w+(?:[\s,]+\w+)*)\s*$", re.IGNORECASE)


def suppress_on_line(
    source: Source, location: Location, code: str, codes: Mapping[str, str], reason: str = ""
) -> LocatedEdit | None:
    """The edit that suppresses a finding where it is; None if no comment can do that.

    The first of these that works: behind its first line, behind its last one, above its statement. A suppression that
    is there already gets the code and keeps its reason.
    """
    edits = _places(source, location, code, _behind(reason))
    return next((edit for edit in edits if _works(source, edit, location, code, codes)), None)


def suppress_in_file(
    source: Source, location: Location, code: str, codes: Mapping[str, str], reason: str = ""
) -> LocatedEdit | None:
    """The edit that suppresses a rule in a whole file; None for pages, whose text is not only code."""
    if source.kind is SourceKind.PAGE:
        return None
    numbers = [cell.number for cell in source.cells] or [None]
    for number in numbers:
        for row, line in enumerate(_rows(source, number), 1):
            found = _FILE.search(line)
            edit = _joined(source, found, row, code, number) if found else None
            if edit is not None and _works(source, edit, location, code, codes):
                return edit
    for number in numbers:
        lines = _rows(source, number)
        row = next((row for row, line in enumerate(lines, 1) if not line.startswith("#")), len(lines))
        text = f"# nonstrict: file-ignore[{code}]{_behind(reason)}\n"
        edit = _edit(source, (row, 1), (row, 1), text, number)
        if not lines[0].startswith("%%") and _works(source, edit, location, code, codes):
            return edit
    return None


def remove_suppression(
    source: Source, location: Location, idle: AbstractSet[str], codes: Mapping[str, str]
) -> LocatedEdit:
    """The edit that removes an unused suppression (NST902); if some codes are `idle`, those of it that are."""
    row, cell = location.row, location.cell
    line = source.line_text(row, cell)
    start, end = location.column - 1, location.end_column - 1
    listed = _LISTED.search(line[start:end])
    part = "inside" if listed is not None and listed["inside"] is not None else "bare"
    if listed is not None and idle:
        words = [word for word in re.split(r"[\s,]+", listed[part]) if word]
        kept = [word for word in words if codes.get(word.lower(), word.upper()) not in idle and word not in idle]
        if kept:
            first, last = start + listed.start(part), start + listed.end(part)
            return _edit(source, (row, first + 1), (row, last + 1), ", ".join(kept), cell)
    return _without_comment(source, line, start, end, row, cell)


def _edit(source: Source, start: tuple[int, int], end: tuple[int, int], text: str, cell: int | None) -> LocatedEdit:
    return LocatedEdit(Location(source.path, *start, *end, cell), text)


def _behind(reason: str) -> str:
    return f"  {reason}" if reason else ""


def _without_comment(source: Source, line: str, start: int, end: int, row: int, cell: int | None) -> LocatedEdit:
    """Remove a comment with the reason behind it, and the line if nothing else is on it."""
    another = line.find("#", end)
    if another >= 0:
        return _edit(source, (row, start + 1), (row, another + 1), "", cell)
    before = line[:start].rstrip()
    if before:
        return _edit(source, (row, len(before) + 1), (row, len(line) + 1), "", cell)
    if row < len(_rows(source, cell)):
        return _edit(source, (row, 1), (row + 1, 1), "", cell)
    return _edit(source, (row, 1), (row, len(line) + 1), "", cell)


def _places(source: Source, location: Location, code: str, behind: str) -> Iterator[LocatedEdit]:
    cell = location.cell
    for row in dict.fromkeys((location.row, location.end_row)):
        line = source.line_text(row, cell)
        found = _LINE.search(line)
        if found is not None:
            yield _joined(source, found, row, code, cell)
        if not line.rstrip().endswith("\\"):
            end = (row, len(line) + 1)
            comment = f"  # nonstrict: ignore[{code}]{behind}"
            yield _edit(source, (row, len(line.rstrip()) + 1), end, comment, cell)
    row = location.row - (_code_line(source, location) - _statement_start(source, _code_line(source, location)))
    above = source.line_text(row - 1, cell)
    found = _LINE.search(above)
    if found is not None and above.lstrip().startswith("#"):
        yield _joined(source, found, row - 1, code, cell)
    line = source.line_text(row, cell)
    indentation = line[: len(line) - len(line.lstrip())]
    yield _edit(source, (row, 1), (row, 1), f"{indentation}# nonstrict: ignore[{code}]{behind}\n", cell)


def _joined(source: Source, found: re.Match[str], row: int, code: str, cell: int | None) -> LocatedEdit:
    """Add a code to a list of codes."""
    listed = found["listed"]
    behind = found.start("listed") + len(listed.rstrip(", \t"))
    text = f", {code}" if listed.strip(", \t") else code
    return _edit(source, (row, behind + 1), (row, found.end("listed") + 1), text, cell)


def _works(source: Source, edit: LocatedEdit, location: Location, code: str, codes: Mapping[str, str]) -> bool:
    """Whether the edited text suppresses a finding that stands where it stood."""
    lines = list(source.lines_as_read)
    where = edit.location
    target = _line_of(source, where.row, where.cell)
    first = _code_line(source, location)
    last = first + location.end_row - location.row
    if target is None:
        return False
    line = lines[target - 1]
    if edit.text.endswith("\n"):
        lines.insert(target - 1, edit.text.removesuffix("\n"))
        first, last = (row + (row >= target) for row in (first, last))
    else:
        shift = _shift(source, target)
        lines[target - 1] = line[: where.column - 1 - shift] + edit.text + line[where.end_column - 1 - shift :]
    code_now = "\n".join(lines)
    edited = Source(source.path, SourceKind.PYTHON, code_now, code_now)
    return suppressions(edited, codes).covers(code, first, last)


def _shift(source: Source, line: int) -> int:
    """How far a line of the file stands to the right of that of the code."""
    if not source.origins:
        return 0
    origin = source.origins[min(line, len(source.origins)) - 1]
    return origin.column - origin.indent


def _code_line(source: Source, location: Location) -> int:
    """The line of the analysed code of the start of a location."""
    return _line_of(source, location.row, location.cell) or 1


def _line_of(source: Source, row: int, cell: int | None) -> int | None:
    if not source.origins:
        return row if 1 <= row <= len(source.lines_as_read) else None
    origins = enumerate(source.origins[: len(source.lines_as_read)], 1)
    return next((line for line, origin in origins if origin.row == row and origin.cell == cell), None)


def _statement_start(source: Source, line: int) -> int:
    """The first line of the statement that a line of the code is part of."""
    code = "\n".join(source.lines_as_read)
    position, first, lines = 0, 1, 1
    while position < len(code):
        following = statement_end(code, position)
        lines += code.count("\n", position, following)
        if lines > line:
            break
        position, first = following, lines
    return first


def _rows(source: Source, cell: int | None) -> list[str]:
    """The lines of a file or cell as users see them."""
    if cell is None:
        return source.file_lines
    found = next(one for one in source.cells if one.number == cell)
    return [source.line_text(row, cell) for row in range(1, found.lines + 1)]
