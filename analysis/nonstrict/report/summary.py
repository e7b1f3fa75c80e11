"""The closing line of formats made for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.verdicts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def summary(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """How many findings of which severity, in how many of the files checked, as a line; empty if not wanted.

    A second line counts verdicts, if there are any.
    """
    if not context.counts:
        return ""
    checked = plural(context.files, "file")
    if not diagnostics:
        return f"No findings in {checked}.\n" if context.files else "No files were checked.\n"
    counts = ", ".join(
        plural(count, severity.label)
        for severity in sorted(Severity, reverse=True)
        if (count := sum(diagnostic.severity is severity for diagnostic in diagnostics))
    )
    touched = len({diagnostic.location.path for diagnostic in diagnostics})
    verdicts = counted(diagnostics)
    second = f"{plural(len(diagnostics), 'finding')}: {verdicts}.\n" if verdicts else ""
    return f"Found {counts} in {touched} of {checked}.\n{second}"


def plural(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
