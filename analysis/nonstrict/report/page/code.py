"""Code on the page: the lines around a place with the place marked, one line of it, and what a fix changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.fixes.applying import CannotApply
from nonstrict.report.fixes import changed
from nonstrict.report.frame import rows
from nonstrict.report.page.markup import NOTHING, Markup, element, joined, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import LocatedFix, Location
    from nonstrict.fixes.applying import Hunk
    from nonstrict.report.context import Context, Lines

#: So much of a long line is shown, and so much of that before what is marked.
_WIDEST = 400
_BEFORE = 80
#: So many lines of a fix are shown at most.
_MAX_LINES = 120


def frame(where: Location, lines: Lines) -> Markup:
    """The lines around a range, which is marked; nothing where the file can no longer be read."""
    found = [_row(number, text, where) for number, text in rows(where, lines)]
    return element("pre", *found, class_="code") if found else NOTHING


def line(where: Location, lines: Lines) -> Markup:
    """The first line of a range, which is marked; nothing where the file can no longer be read."""
    text = lines.line(where.path, where.row, where.cell)
    if text is None or not text.strip():
        return NOTHING
    indent = len(text) - len(text.lstrip())
    start, end = (max(column - indent, 0) for column in _columns(where.row, text, where))
    return element("code", _marked(text[indent:], start, end), class_="line")


def difference(fix: LocatedFix, where: Location, context: Context) -> Markup:
    """The lines that a fix changes, those of the file and cell at `where` first; nothing if the file is another one."""
    try:
        hunks = changed(fix.edits, where, context.lines)
    except CannotApply:
        return NOTHING
    found = list(_changes(hunks, (where.path, where.cell), context))
    more = len(found) - _MAX_LINES
    if more > 0:
        found[_MAX_LINES:] = [element("span", f"... and {more:,} more lines", class_="gap")]
    return element("pre", *found, class_="code diff") if found else NOTHING


def _row(number: int, text: str | None, where: Location) -> Markup:
    if text is None:
        return element("span", "...", class_="gap")
    if not where.row <= number <= where.end_row:
        return _numbered(number, _shortened(text))
    start, end = _columns(number, text, where)
    return _numbered(number, _marked(text, start, end), "row hit")


def _columns(number: int, text: str, where: Location) -> tuple[int, int]:
    """Which characters of a row of a range lie in it, at least one."""
    start = where.column - 1 if number == where.row else len(text) - len(text.lstrip())
    end = where.end_column - 1 if number == where.end_row else len(text)
    return start, max(end, start + 1)


def _marked(text: str, start: int, end: int) -> Markup:
    """A line with a range marked, both ends cut off if it is long."""
    begin = max(min(start - _BEFORE, len(text) - _WIDEST), 0) if len(text) > _WIDEST else 0
    finish = begin + _WIDEST
    start, end = max(start, begin), min(end, finish)
    before, after = "\N{HORIZONTAL ELLIPSIS}" * (begin > 0), "\N{HORIZONTAL ELLIPSIS}" * (finish < len(text))
    marked = text[start:end] or " "
    return joined(before, text[begin:start], element("mark", marked), text[end:finish], after)


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[:_WIDEST] + "\N{HORIZONTAL ELLIPSIS}"


def _numbered(number: int, content: str, kind: str = "row", tag: str = "span") -> Markup:
    return element(tag, content, class_=kind, data_row=number)


def _changes(
    hunks: list[tuple[tuple[str, int | None], Hunk]], at: tuple[str, int | None], context: Context
) -> Iterator[Markup]:
    last = 0
    for file, hunk in hunks:
        path, cell = file
        if file != at:
            at, last = file, 0
            name = plain(context.relative(path))
            yield element("span", name if cell is None else f"{name}: cell {cell}", class_="file")
        elif last and hunk.row > last:
            yield element("span", "...", class_="gap")
        last = hunk.row + len(hunk.old)
        for tag, texts in (("del", hunk.old), ("ins", hunk.new)):
            for number, text in enumerate(texts, hunk.row):
                yield _numbered(number, _shortened(text), tag=tag)
