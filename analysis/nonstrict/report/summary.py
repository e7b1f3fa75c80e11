"""The closing line of formats made for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.report.fixes import available, listed
from nonstrict.report.style import Style
from nonstrict.report.verdicts import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.coverage import Counts
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
    if not context.files and not diagnostics:
        return f"{before}No files were checked.\n"
    last = looked_at(context.looked, context.torches) if context.looked is not None else ""
    if not diagnostics:
        return f"{before}No findings in {checked}{aside}.\n{last}"
    counts = ", ".join(
        plural(count, severity.label)
        for severity in sorted(Severity, reverse=True)
        if (count := sum(diagnostic.severity is severity for diagnostic in diagnostics))
    )
    touched = len({diagnostic.location.path for diagnostic in diagnostics})
    verdicts = counted(diagnostics)
    second = f"{plural(len(diagnostics), 'finding')}: {verdicts}.\n" if verdicts else ""
    third = available(diagnostics, context, Style(context.color))
    return f"{before}Found {counts} in {touched} of {checked}{aside}.\n{second}{third}{last}"


def looked_at(counts: Counts, torches: Iterable[str | None] = (), *, told: bool = False) -> str:
    """How much was looked at, and what of the regions was not: findings are only to be had where somebody looked.

    Unless it is `told` above why, it says how that is to be had. For versions of torch that were not measured
    themselves, further lines say whose tables answer.
    """
    if not any(counts):
        return "No compiled region or marked function was found.\n"
    kinds = [plural(counts.regions, "region")] if counts.regions or counts.missed else []
    kinds += [plural(counts.marked, "marked function")] if counts.marked else []
    why = "" if told else " (`nonstrict regions` says why)"
    missed = f", {plural(counts.missed, 'region')} not{why}" if counts.missed else ""
    return f"{' and '.join(kinds)} analyzed{missed}.\n{answered_by(torches)}"


def answered_by(torches: Iterable[str | None]) -> str:
    """Which tables of what torch does answer, a line for each release that was not measured itself."""
    from nonstrict.knowledge.releases import answering, release_of, shown

    lines = {
        f"For torch {shown(release_of(torch))}, the tables of {' and '.join(map(shown, others))} are used.\n": None
        for torch in torches
        if (others := answering(torch))
    }
    return "".join(lines)


def _aside(context: Context) -> str:
    """What became of findings that are not reported: ` (2 fixed, 3 in the baseline, 4 there before)`."""
    counted = (
        (len(context.fixing.fixed), "fixed"),
        (context.known, "in the baseline"),
        (context.earlier, "there before"),
    )
    parts = [f"{count:,} {word}" for count, word in counted if count]
    parts += [f"{plural(context.notes, 'note')} left out"] if context.notes else []
    told = ", ".join(parts)
    return f" ({told})" if told else ""


def plural(count: int, noun: str) -> str:
    """`1 file`, `2 files`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
