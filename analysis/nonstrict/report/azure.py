"""`azure`: logging commands of Azure Pipelines.

Syntax: https://learn.microsoft.com/azure/devops/pipelines/scripts/logging-commands (`task.logissue`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.style import in_cell, one_line
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One command per line; a note is a warning, the least that the service knows."""
    lines = [_command(diagnostic, context) for diagnostic in diagnostics]
    lines += [f"##vso[task.logissue type=error;]{_text(failure)}" for failure in context.failures]
    return "".join(f"{line}\n" for line in lines)


def _command(diagnostic: Diagnostic, context: Context) -> str:
    where = diagnostic.location
    kind = "error" if diagnostic.severity is Severity.ERROR else "warning"
    path = _property(context.in_repository(where.path))
    at = context.known_place(where)
    place = f"linenumber={at.row};columnnumber={at.column};" if at is not None else ""
    head = f"##vso[task.logissue type={kind};sourcepath={path};{place}code={diagnostic.code};]"
    text = "; ".join(filter(None, (diagnostic.message, context.elsewhere(diagnostic), told(diagnostic))))
    return head + _text(in_cell(where) + text)


def _text(text: str) -> str:
    return one_line(text).replace("%", "%AZP25")


def _property(text: str) -> str:
    return one_line(text).replace("%", "%AZP25").replace(";", "%3B").replace("]", "%5D")
