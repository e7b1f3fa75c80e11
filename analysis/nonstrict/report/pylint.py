"""`pylint`: the one-line form that many tools parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.style import file_place, in_cell, one_line
from nonstrict.report.verdicts import suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """`path:row: [code(name), function] message` lines."""
    return "".join(_line(diagnostic, context) + "\n" for diagnostic in diagnostics)


def _line(diagnostic: Diagnostic, context: Context) -> str:
    path = one_line(context.relative(diagnostic.location.path))
    label = f"{diagnostic.code}({diagnostic.name}), {diagnostic.function}".rstrip(", ")
    where = diagnostic.location
    message = f"{in_cell(where)}{one_line(diagnostic.message)}{suffix(diagnostic)}"
    return f"{path}:{file_place(where).row}: [{label}] {message}"
