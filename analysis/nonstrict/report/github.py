"""`github`: workflow commands that GitHub Actions shows as annotations.

Syntax and escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions and the
`@actions/core` package (`command.ts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.style import shown_position
from nonstrict.report.verdicts import told

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """One command per line: a finding, or a sentence about what could not be checked."""
    lines = [_command(diagnostic, context) for diagnostic in diagnostics]
    lines += [f"::error title=nonstrict::{_data(failure)}" for failure in context.failures]
    return "".join(f"{line}\n" for line in lines)


def _command(diagnostic: Diagnostic, context: Context) -> str:
    where = diagnostic.location
    path = context.in_repository(where.path)
    properties: dict[str, str | int] = {"title": f"nonstrict ({diagnostic.code})", "file": path}
    at = context.known_place(where)
    if at is not None:
        properties["line"] = at.row
        # Columns of different lines are refused.
        if at.end_row == at.row:
            properties |= {"col": at.column, "endLine": at.end_row, "endColumn": at.end_column}
        else:
            properties["endLine"] = at.end_row
    more = "".join(f"\n{one}" for one in (diagnostic.note, diagnostic.help, *context.evidence(diagnostic)) if one)
    position = shown_position(path, where.row, where.column, where.cell)
    seen = "".join(f"\n{one}" for one in (told(diagnostic),) if one)
    text = f"{position}: {diagnostic.code} {diagnostic.message}{more}{seen}"
    return command(_COMMANDS[diagnostic.severity], properties, text)


def command(name: str, properties: Mapping[str, str | int], text: str) -> str:
    """A workflow command: `error`, `warning` or `notice`, with what it says, and of which file and line."""
    shown = ",".join(f"{key}={_property(str(value))}" for key, value in properties.items())
    return f"::{name} {shown}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
