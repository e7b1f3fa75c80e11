"""What real runs did beside what the findings say: told with each finding, and as notes where no finding stands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.diagnostics import Presenter, in_order
from nonstrict.check.observed import broken_at, left_after, lines_of, source_of, span_of
from nonstrict.confirm.recompiling import ASKED, concerns
from nonstrict.confirm.recorded import plain_name
from nonstrict.confirm.runs.places import Project
from nonstrict.confirm.runs.store import ran
from nonstrict.findings import Finding, Severity, Sighting
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.confirm.runs.store import Ran
    from nonstrict.findings import Break, Diagnostic, Measured, Recompiled
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

_RECOMPILED, _GIVEN_UP = "NST804", "NST803"


class _Run(NamedTuple):
    """The files and settings of a check."""

    settings: Settings
    nested: Mapping[str, Settings]
    checked: frozenset[str]


def sighted(
    diagnostics: Sequence[Diagnostic],
    known: Sequence[Diagnostic],
    sources: Mapping[str, Source],
    settings: Settings,
    nested: Mapping[str, Settings],
    checked: Iterable[str],
    now: float,
) -> tuple[Diagnostic, ...]:
    """The diagnostics with what runs made of them, and notes of what runs did and none of them says.

    `known` are findings that are not shown, `checked` the files in which something may be noted.
    """
    seen = ran(Project(settings.root), now)
    texts = dict(sources)
    told = [_with_sighting(one, seen, (*diagnostics, *known), texts) for one in diagnostics]
    run = _Run(settings, nested, frozenset(map(os.path.abspath, checked)))
    return tuple(sorted((*told, *_notes(seen, (*diagnostics, *known), texts, run)), key=in_order))


def _experiment(diagnostic: Diagnostic) -> Experiment | None:
    rule = RULES.get(diagnostic.code)
    return rule.experiment if rule is not None else None


def _with_sighting(
    one: Diagnostic, seen: Sequence[Ran], others: Iterable[Diagnostic], texts: dict[str, Source]
) -> Diagnostic:
    experiment = _experiment(one)
    if experiment is Experiment.BREAK:
        found = [_of_break(each, broken) for each in seen for broken in _breaks_on(one, each.region, texts)]
    elif experiment in ASKED:
        found = [_of_guard(each, again) for each in seen for again in _again_for(one, each.region, others, texts)]
    else:
        return one
    if found:
        return one._replace(sighting=_together(found))
    passing = next((each for each in seen if _is_region_of(one, each.region) and not _is_unsure(one, each)), None)
    return one._replace(sighting=Sighting(passing.when, passed=True)) if passing is not None else one


def _together(found: Sequence[Sighting]) -> Sighting:
    """What the latest run says; what is the same in several of its functions counts together."""
    latest = max(one.when for one in found)
    own = [one for one in found if one.when == latest]
    return own[-1]._replace(
        recompilations=sum(one.recompilations for one in own),
        seconds=sum(one.seconds for one in own),
        gives_up=any(one.gives_up for one in own),
    )


def _of_break(one: Ran, broken: Break) -> Sighting:
    left = left_after(broken, one.region.fallbacks)
    stale = broken.lines[-1][:2] in one.stale
    return Sighting(one.when, gives_up=left is not None, reason=broken.text, stale=stale)


def _of_guard(one: Ran, again: Recompiled) -> Sighting:
    stale = again.lines[-1][:2] in one.stale
    return Sighting(one.when, False, again.times, again.seconds, again.limit, again.guard, stale)


def _breaks_on(one: Diagnostic, region: Measured, texts: dict[str, Source]) -> Iterator[Break]:
    lines = lines_of(one, texts)
    yield from (broken for broken in region.breaks if broken.lines[-1][:2] in lines)


def _again_for(
    one: Diagnostic, region: Measured, others: Iterable[Diagnostic], texts: dict[str, Source]
) -> Iterator[Recompiled]:
    """What a region was compiled again for, as far as a finding says so."""
    lines, own = lines_of(one, texts), _is_region_of(one, region)
    asked = (each for each in others if each is not one and _experiment(each) in ASKED)
    rivals = [each.subject for each in asked if each.function == one.function and _is_region_of(each, region) == own]
    for again in region.again:
        on_line = again.lines[-1][:2] in lines
        if (own or on_line) and concerns(again.sources, one.subject, rivals, on_line=on_line):
            yield again


def _is_region_of(one: Diagnostic, region: Measured) -> bool:
    """Whether a function that a run compiled is the region that a finding is about."""
    files = {os.path.abspath(where.path) for where in (one.location, *(related.location for related in one.related))}
    return region.function == plain_name(one.function) and region.path in files


def _is_unsure(one: Diagnostic, each: Ran) -> bool:
    """Whether that a finding was not seen says nothing.

    The code is another one, torch gave up before, or it compiled again for something else, of which it asks first.
    """
    left, stale = bool(each.region.fallbacks), (each.region.path, each.region.line) in each.stale
    return one.observed or left or stale or (_experiment(one) in ASKED and bool(each.region.again))


def _notes(
    seen: Sequence[Ran], diagnostics: Sequence[Diagnostic], texts: dict[str, Source], run: _Run
) -> Iterator[Diagnostic]:
    """What runs did where no finding says so."""
    presenter = Presenter(run.settings, run.nested)
    for finding, sighting in _unnamed(seen, diagnostics, texts):
        path = finding.span.path
        if os.path.abspath(path) in run.checked:
            shown = presenter.of_file(path, [finding], texts, settled=False)
            yield from (one._replace(sighting=sighting) for one in shown if one.code == finding.code)


def _unnamed(
    seen: Sequence[Ran], diagnostics: Sequence[Diagnostic], texts: dict[str, Source]
) -> Iterator[tuple[Finding, Sighting]]:
    runs = {id(one.region): one for one in seen}
    for where, finding in broken_at((one.region for one in seen), diagnostics, texts):
        sighting = _of_break(runs[id(where.region)], where.broken)
        yield finding._replace(severity=Severity.NOTE), sighting
    for one in seen:
        named = [
            again
            for diagnostic in diagnostics
            if _experiment(diagnostic) in ASKED
            for again in _again_for(diagnostic, one.region, diagnostics, texts)
        ]
        for again in one.region.again:
            source = source_of(again.lines[-1].path, texts)
            if again not in named and source is not None:
                yield _recompilation(one.region, again, source), _of_guard(one, again)


def _recompilation(region: Measured, again: Recompiled, source: Source) -> Finding:
    what = "gave up" if again.limit else "compiled"
    often = f"after {again.times} recompilations" if again.limit else "again"
    return Finding(
        code=_GIVEN_UP if again.limit else _RECOMPILED,
        severity=Severity.NOTE,
        span=span_of(source, again.lines[-1]),
        message=f"torch {what} `{region.function}` {often}",
        note=f"a guard failed: {again.guard}",
        function=region.function,
        marker="compiled",
        observed=True,
    )
