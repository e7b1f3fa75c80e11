"""The closing line of formats made for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.fixes import available, listed
from nonstrict.report.style import Style
from nonstrict.report.verdicts import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context


def summary(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """How many findings of which severity, in how many of the files checked, as a line; empty if not wanted.

    Further lines count verdicts and fixes, if there are any. What was fixed stands before, if it is to be listed.
    """
    fixing = context.fixing
    before = "".join(f"{line}\n" for line in (*listed(fixing.fixed), "")) if fixing.listed and fixing.fixed else ""
    if not context.counts:
        return before
    checked = plural(context.files, "file")
    aside = _aside(context)
    if not diagnostics:
        return before + (f"No findings in {checked}{aside}.\n" if context.files else "No files were checked.\n")
    counts = ", ".join(
        plural(count, severity.label)
        for severity in sorted(Severity, reverse=True)
        if (count := sum(diagnostic.severity is severity for diagnostic in diagnostics))
    )
    touched = len({diagnostic.location.path for diagnostic in diagnostics})
    verdicts = counted(diagnostics)
    second = f"{plural(len(diagnostics), 'finding')}: {verdicts}.\n" if verdicts else ""
    third = available(diagnostics, context, Style(context.color))
    return f"{before}Found {counts} in {touched} of {checked}{aside}.\n{second}{third}"


def _aside(context: Context) -> str:
    """What became of findings that are not reported: ` (2 fixed, 3 in the baseline)`."""
    parts = ((len(context.fixing.fixed), "fixed"), (context.known, "in the baseline"))
    told = ", ".join(f"{count:,} {word}" for count, word in parts if count)
    return f" ({told})" if told else ""


def plural(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
