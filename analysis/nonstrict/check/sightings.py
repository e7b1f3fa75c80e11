"""What real runs did beside what the findings say: told with each finding, and as notes where no finding stands."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.diagnostics import in_order
from nonstrict.check.observed import broken_at, left_after, lines_of, source_of, span_of
from nonstrict.confirm.recompiling import ASKED, concerns
from nonstrict.confirm.recorded import plain_name
from nonstrict.confirm.runs.told import BACKEND
from nonstrict.findings import Finding, Severity, Sighting
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.check.diagnostics import Presenter
    from nonstrict.check.observed import Reported
    from nonstrict.confirm.runs.places import Project
    from nonstrict.confirm.runs.store import Ran
    from nonstrict.findings import Break, Diagnostic, Measured, Recompiled
    from nonstrict.text.source import Source

_RECOMPILED, _GIVEN_UP = "NST804", "NST803"
_NO_GRAPH = "no graph was made"


class _About(NamedTuple):
    """A finding, which experiment would show it, the lines that it covers, and the files that it names."""

    diagnostic: Diagnostic
    experiment: Experiment | None
    lines: frozenset[tuple[str, int]]
    files: frozenset[str]

    def is_of(self, region: Measured) -> bool:
        """Whether a function that a run compiled is the region that the finding is about."""
        return region.function == plain_name(self.diagnostic.function) and region.path in self.files


def sighted(
    reported: Reported, known: Sequence[Diagnostic], checked: Iterable[str], seen: Sequence[Ran], project: Project
) -> tuple[Diagnostic, ...]:
    """The diagnostics with what runs made of them, and notes of what runs did and none of them says.

    `known` are findings that are not shown, `checked` the files in which something may be noted, `seen` what runs of
    the `project` did.
    """
    texts = dict(reported.sources)
    findings = _Findings((*reported.diagnostics, *known), texts, project)
    told = [_with_sighting(one, seen, findings) for one in reported.diagnostics]
    files = frozenset(map(os.path.abspath, checked))
    notes = _notes(_unnamed(seen, findings, texts, files), reported.presenter, texts)
    return tuple(sorted((*told, *notes), key=in_order))


class _Findings:
    """All findings of a check, and which of them a run speaks of."""

    def __init__(self, diagnostics: Sequence[Diagnostic], texts: dict[str, Source], project: Project) -> None:
        self.diagnostics = diagnostics
        self._project = project
        about = [_about(one, texts) for one in diagnostics]
        self._by_id = {id(one.diagnostic): one for one in about}
        self.asked = [one for one in about if one.experiment in ASKED]

    def about(self, diagnostic: Diagnostic) -> _About:
        """What is known of one of them."""
        return self._by_id[id(diagnostic)]

    def again_for(self, one: _About, region: Measured) -> Iterator[Recompiled]:
        """What a region was compiled again for, as far as a finding says so."""
        own = one.is_of(region)
        near = [again for again in region.again if own or again.lines[-1][:2] in one.lines]
        if not near:
            return
        rivals = [
            other.diagnostic.subject
            for other in self.asked
            if other.diagnostic.function == one.diagnostic.function and other is not one and other.is_of(region) == own
        ]
        for again in near:
            on_line = again.lines[-1][:2] in one.lines
            fits = concerns(again.sources, one.diagnostic.subject, rivals, on_line=on_line)
            if fits or (again.sources == (BACKEND,) and own and self._is_outside(one, region)):
                yield again

    def _is_outside(self, one: _About, region: Measured) -> bool:
        """Whether a finding is about how a function is compiled, not about what it does."""
        code = self._project.code(region.path)
        last = code.last(region.function, region.line) if code is not None else region.line
        return one.lines.isdisjoint((region.path, line) for line in range(region.line, last + 1))


def _about(one: Diagnostic, texts: dict[str, Source]) -> _About:
    rule = RULES.get(one.code)
    places = (one.location, *(related.location for related in one.related))
    files = frozenset(os.path.abspath(where.path) for where in places)
    return _About(one, rule.experiment if rule is not None else None, lines_of(one, texts), files)


def _with_sighting(diagnostic: Diagnostic, seen: Sequence[Ran], findings: _Findings) -> Diagnostic:
    one = findings.about(diagnostic)
    if one.experiment is Experiment.BREAK:
        found = [
            _of_break(each, broken)
            for each in seen
            for broken in each.region.breaks
            if broken.lines[-1][:2] in one.lines
        ]
    elif one.experiment in ASKED:
        found = [_of_guard(each, again) for each in seen for again in findings.again_for(one, each.region)]
    elif one.experiment is Experiment.COMPILED:
        found = [Sighting(each.when, reason=_NO_GRAPH) for each in seen if one.is_of(each.region) and _is_empty(each)]
    else:
        return diagnostic
    if found:
        return diagnostic._replace(sighting=_together(found))
    if one.experiment is Experiment.COMPILED:
        return diagnostic  # what a run compiled may be the work of another application
    passing = next((each for each in seen if one.is_of(each.region) and not _is_unsure(one, each)), None)
    return diagnostic._replace(sighting=Sighting(passing.when, passed=True)) if passing is not None else diagnostic


def _is_empty(each: Ran) -> bool:
    """Whether torch compiled a function, and there was nothing in it that belongs in a graph."""
    region = each.region
    made = (*region.graphs, *region.breaks, *region.fallbacks, *each.stale)
    return not made and not region.later and not region.skipped


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


def _is_unsure(one: _About, each: Ran) -> bool:
    """Whether that a finding was not seen says nothing.

    The code is another one, torch gave up before, or it compiled again for something else, of which it asks first.
    """
    left, stale = bool(each.region.fallbacks), (each.region.path, each.region.line) in each.stale
    return one.diagnostic.observed or left or stale or (one.experiment in ASKED and bool(each.region.again))


def _notes(
    unnamed: Iterable[tuple[Finding, Sighting]], presenter: Presenter, texts: dict[str, Source]
) -> Iterator[Diagnostic]:
    """What runs did where no finding says so."""
    for finding, sighting in unnamed:
        shown = presenter.of_file(finding.span.path, [finding], texts, settled=False)
        yield from (one._replace(sighting=sighting) for one in shown if one.code == finding.code)


def _unnamed(
    seen: Sequence[Ran], findings: _Findings, texts: dict[str, Source], files: frozenset[str]
) -> Iterator[tuple[Finding, Sighting]]:
    runs = {id(one.region): one for one in seen}
    for where, finding in broken_at((one.region for one in seen), findings.diagnostics, texts):
        if where.place.path in files:
            yield finding._replace(severity=Severity.NOTE), _of_break(runs[id(where.region)], where.broken)
    for one in seen:
        named = [again for about in findings.asked for again in findings.again_for(about, one.region)]
        for again in one.region.again:
            path = again.lines[-1].path
            source = source_of(path, texts) if path in files and again not in named else None
            if source is not None:
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
