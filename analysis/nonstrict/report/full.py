"""`full`: for people; each finding with its code frame, advice and call chain."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report import sightings
from nonstrict.report.fixes import mark, shown
from nonstrict.report.frame import frame, gutter_width
from nonstrict.report.style import Style, one_line, shown_position
from nonstrict.report.summary import summary
from nonstrict.report.verdicts import details, sentence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic, Location
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """All findings, a blank line after each, and the counts."""
    blocks = ["\n".join(block(diagnostic, context)) for diagnostic in diagnostics]
    return "".join(f"{block}\n\n" for block in blocks) + summary(diagnostics, context)


def block(diagnostic: Diagnostic, context: Context) -> Iterator[str]:
    """The lines of one finding."""
    style, location = Style(context.color), diagnostic.location
    word = style.severity(diagnostic.severity, f"{diagnostic.severity.label}[{diagnostic.code}]")
    name, message = style.paint("dim", f"{diagnostic.name}:"), style.paint("bold", one_line(diagnostic.message))
    yield f"{word} {name} {mark(diagnostic, context, style)}{message}"
    width = gutter_width(location, *_rows(diagnostic))
    indent = " " * width
    yield f"{indent}{style.paint('blue', '-->')} {_position(location)}"
    yield from frame(location, context.lines, style, diagnostic.severity, width)
    equals = style.paint("blue", "=")
    if diagnostic.note:
        yield f"{indent} {equals} {style.paint('bold', 'note:')} {one_line(diagnostic.note)}"
    if diagnostic.help:
        first, *rest = diagnostic.help.splitlines()
        yield f"{indent} {equals} {style.paint('bold', 'help:')} {one_line(first)}"
        for line in rest:
            yield f"{indent}         {one_line(line)}".rstrip()
    if diagnostic.fixes:
        yield from shown(diagnostic.fixes[0], location, context, style, width)
    for related in diagnostic.related:
        note = style.paint("bold", "note:")
        yield f"{indent} {equals} {note} {_position(related.location)}: {one_line(related.message)}"
    if diagnostic.verdict is not None:
        note = style.paint("bold", "note:")
        yield f"{indent} {equals} {note} {one_line(sentence(diagnostic.verdict, diagnostic.function))}"
        for line in details(diagnostic.verdict):
            yield f"{indent}         {one_line(line)}"
    if diagnostic.sighting is not None:
        text = one_line(sightings.sentence(diagnostic))
        shown_text = style.paint("dim", text) if diagnostic.sighting.stale else text
        yield f"{indent} {equals} {style.paint('bold', 'note:')} {shown_text}"


def _rows(diagnostic: Diagnostic) -> Iterator[int]:
    """The rows that the fix of a finding changes."""
    for edit in diagnostic.fixes[0].edits if diagnostic.fixes else ():
        yield edit.location.end_row + edit.text.count("\n")


def _position(location: Location) -> str:
    return shown_position(location.path, location.row, location.column, location.cell)
