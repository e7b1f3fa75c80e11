"""`grouped`: findings under the name of their file."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from nonstrict.report.fixes import mark
from nonstrict.report.style import Style, one_line
from nonstrict.report.summary import summary
from nonstrict.report.verdicts import suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """A heading per file, aligned rows below it, and the counts."""
    style = Style(context.color)
    blocks: list[str] = []
    for path, group in groupby(diagnostics, key=lambda diagnostic: diagnostic.location.path):
        found = list(group)
        width = max(len(_position(diagnostic)) for diagnostic in found)
        rows = [
            f"  {_position(diagnostic):<{width}} "
            + style.severity(diagnostic.severity, f"{diagnostic.severity.label}[{diagnostic.code}]")
            + f" {mark(diagnostic, context, style)}{one_line(diagnostic.message)}{suffix(diagnostic)}"
            for diagnostic in found
        ]
        blocks.append("\n".join([style.paint("bold", one_line(path)) + ":", *rows]))
    return "".join(f"{block}\n\n" for block in blocks) + summary(diagnostics, context)


def _position(diagnostic: Diagnostic) -> str:
    where = diagnostic.location
    cell = "" if where.cell is None else f"cell {where.cell}:"
    return f"{cell}{where.row}:{where.column}"
