"""`concise`: one line per finding, for people and for grep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.fixes import mark
from nonstrict.report.style import Style, one_line, shown_position
from nonstrict.report.summary import summary
from nonstrict.report.verdicts import suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """`path:row:column: severity[code] message` lines, and the counts."""
    style = Style(context.color)
    return "".join(_line(diagnostic, context, style) + "\n" for diagnostic in diagnostics) + summary(
        diagnostics, context
    )


def _line(diagnostic: Diagnostic, context: Context, style: Style) -> str:
    where = diagnostic.location
    word = style.severity(diagnostic.severity, f"{diagnostic.severity.label}[{diagnostic.code}]")
    position = style.paint("bold", shown_position(where.path, where.row, where.column, where.cell))
    return f"{position}: {word} {mark(diagnostic, context, style)}{one_line(diagnostic.message)}{suffix(diagnostic)}"
