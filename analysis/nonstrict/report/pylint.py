"""`pylint`: the one-line form that many tools parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.report.style import in_cell, one_line
from nonstrict.report.verdicts import suffix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """`path:row: [code(name), function] message` lines."""
    lines = [_line(diagnostic, context) for diagnostic in diagnostics]
    # Readers take the first letter for the category: this is the one of what pylint could not do.
    lines += [
        f"{one_line(context.relative(path))}:1: [F(unreadable-file)] not checked: {one_line(reason)}"
        for path, reason in context.unread
    ]
    return "".join(f"{line}\n" for line in lines)


def _line(diagnostic: Diagnostic, context: Context) -> str:
    path = one_line(context.relative(diagnostic.location.path))
    label = f"{diagnostic.code}({diagnostic.name}), {diagnostic.function}".rstrip(", ")
    where = diagnostic.location
    message = f"{in_cell(where)}{one_line(diagnostic.message)}{suffix(diagnostic)}"
    return f"{path}:{context.place(where).row}: [{label}] {message}"
