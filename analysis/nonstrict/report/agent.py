"""`agent`: short text for programs that read it, language models for instance; fixes are patches."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity, Status
from nonstrict.report import sightings
from nonstrict.report.fixes import is_fixable, is_hidden, trust
from nonstrict.report.patches import patch
from nonstrict.report.style import one_line, shown_position
from nonstrict.report.summary import plural
from nonstrict.report.verdicts import counted, details, sentence
from nonstrict.rules.expectation import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic, LocatedFix, Location, RelatedLocation
    from nonstrict.report.context import Context


def render(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """A block for each finding, a blank line after it; then what could not be done, and the counts."""
    blocks = ["".join(f"{line}\n" for line in _block(diagnostic, context)) for diagnostic in diagnostics]
    failed = "".join(f"failure: {one_line(failure)}\n" for failure in context.failures)
    counts = f"{_counts(diagnostics, context)}\n" if context.counts else ""
    return "".join(f"{block}\n" for block in blocks) + failed + counts


def _block(found: Diagnostic, context: Context) -> Iterator[str]:
    yield f"{_position(found.location, context)} {found.code} {found.name} {found.severity.label}"
    told = (
        ("message", found.message),
        ("note", found.note),
        ("help", found.help),
        ("chain", " -> ".join(_places(found.related[: found.links], context))),
        ("see", "; ".join(_places(found.related[found.links :], context))),
        ("verdict", _verdict(found)),
        ("run", sightings.sentence(found, sightings.date)),
    )
    yield from (f"{name}: {one_line(content)}" for name, content in told if content)
    for number, fix in enumerate(found.fixes):
        yield from _fix(fix, context) if not number else (f"or fix{trust(fix)}: {one_line(fix.title)}",)
    yield f"next: {_next(found, context)}"


def _verdict(found: Diagnostic) -> str:
    if found.verdict is None:
        return ""
    return "; ".join((sentence(found.verdict, found.function), *details(found.verdict)))


def _places(places: Sequence[RelatedLocation], context: Context) -> Iterator[str]:
    for place in places:
        yield f"{_position(place.location, context)} {place.message}"


def _fix(fix: LocatedFix, context: Context) -> Iterator[str]:
    yield f"fix{trust(fix)}: {one_line(fix.title)}"
    made = patch(fix, context)
    if made.reason:
        yield f"no patch: {made.reason}"
    elif made.text:
        yield made.text.removesuffix("\n")


def _next(found: Diagnostic, context: Context) -> str:
    """The command that tells or does more about a finding."""
    # What leads there from another file is looked at where it is marked or compiled.
    places = (*found.related[: min(found.links, 1)], found)
    paths = list(dict.fromkeys(context.relative(one.location.path) for one in places))
    if found.location.path == "-" or not all(path.isprintable() for path in paths):
        return f"nonstrict rule {found.code}"
    named = " ".join(map(_argument, paths))
    rule = context.rule(found.code)
    if found.verdict is None and rule is not None and rule.experiment is not Experiment.NONE:
        return f"nonstrict check --confirm {named}"
    refuted = found.verdict is not None and found.verdict.status is Status.REFUTED
    if found.fixes and not refuted and found.fixes[0].applicability > Applicability.DISPLAY:
        unsafe = " --unsafe-fixes" if found.fixes[0].applicability is Applicability.UNSAFE else ""
        return f"nonstrict check --fix{unsafe} --select {found.code} {named}"
    return f"nonstrict rule {found.code}"


def _argument(path: str) -> str:
    """A path as a shell takes it, and no option."""
    return shlex.quote(f"./{path}" if path.startswith("-") else path)


def _counts(diagnostics: Sequence[Diagnostic], context: Context) -> str:
    """All counts in one line."""
    severities = (
        plural(sum(one.severity is severity for one in diagnostics), severity.label)
        for severity in sorted(Severity, reverse=True)
    )
    touched = len({one.location.path for one in diagnostics})
    parts = [f"{plural(len(diagnostics), 'finding')} ({', '.join(severities)})"]
    parts.append(f"in {touched:,} of {plural(context.files, 'file')}")
    told = " ".join(parts)
    ready = sum(is_fixable(one, context) for one in diagnostics)
    hidden = sum(is_hidden(one, context) for one in diagnostics)
    rest = [
        counted(diagnostics),
        f"{ready:,} fixable with --fix" if ready else "",
        f"{hidden:,} more with --unsafe-fixes" if hidden else "",
        f"{len(context.fixing.fixed):,} fixed" if context.fixing.fixed else "",
        f"{context.known:,} in the baseline" if context.known else "",
    ]
    if context.looked is not None:
        looked = context.looked
        rest.append(f"analyzed {plural(looked.regions, 'region')} and {plural(looked.marked, 'marked function')}")
        rest.append(f"{plural(looked.missed, 'region')} not analyzed: nonstrict regions" if looked.missed else "")
    return "; ".join(filter(None, (told, *rest)))


def _position(where: Location, context: Context) -> str:
    return shown_position(context.relative(where.path), where.row, where.column, where.cell)
