"""Compiled regions as editors show them: each with all that is found in it and in what it calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.check.live.verdicts import marker_of, reached_by, ways_of
from nonstrict.findings import Status
from nonstrict.report.regions import figures
from nonstrict.report.summary import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.coverage import Break, Callee, Region
    from nonstrict.findings import Diagnostic, Location, Measured, Span
    from nonstrict_server.engine import Engine


class State(NamedTuple):
    """The worst of some findings, and how many there are of it.

    `worst` is `confirmed`, else the severity of what no experiment decided (`error`, `warning`, `note`), else
    `inconclusive` or `refuted`; "" where there is no finding.
    """

    worst: str = ""
    number: int = 0

    @property
    def text(self) -> str:
        """`1 confirmed`, `2 errors`."""
        if not self.number:
            return ""
        is_verdict = self.worst in {status.value for status in Status}
        return f"{self.number} {self.worst}" if is_verdict else plural(self.number, self.worst)


class Called(NamedTuple):
    """A call of a marked function in a region, and what is found in the function."""

    callee: Callee
    findings: tuple[Diagnostic, ...]


class View(NamedTuple):
    """A region, what is found in it, the marked functions that it calls, and when a run compiled it, to what."""

    region: Region
    findings: tuple[Diagnostic, ...]
    called: tuple[Called, ...]
    ran: tuple[float, Measured] | None = None

    @property
    def reached(self) -> tuple[Diagnostic, ...]:
        """All that is found in the region and in what it calls."""
        below = (one for called in self.called for one in called.findings)
        return tuple(dict.fromkeys((*self.findings, *below)))

    def joined(self, other: View) -> View:
        """The same with what is found where the function is compiled elsewhere."""
        findings = tuple(dict.fromkeys((*self.findings, *other.findings)))
        return self._replace(findings=findings, called=(*self.called, *other.called))

    @property
    def figures(self) -> tuple[str, ...]:
        """`3 graphs`, `2 breaks`; or that nobody looked."""
        return ("not analyzed",) if self.region.missed else figures(self.region)


def views(engine: Engine, path: str = "") -> list[View]:
    """The regions in or from a file, or of the workspace; in the thread of the analysis."""
    return Reach(engine).views(path)


def reached_from(engine: Engine, path: str, function: str) -> tuple[Diagnostic, ...]:
    """What is found in the functions of a file, or in one; of a region, in what it calls too.

    A region is one of the file that it is compiled in and of that which defines it, and is told as it is wherever the
    function is compiled. Where a file has no function of the name, those count whose findings lie in it.
    """
    reach = Reach(engine)
    own = reach.of(path, function)
    regions = _regions_of(engine, path, function)
    if not own and not regions and not any(mark.function == function for mark in engine.marks(path)):
        own = tuple(one for one in reach.of(path) if any(name == function for name, _ in ways_of(one)))
    return tuple(dict.fromkeys((*own, *(one for region in regions for one in reach.view(region).reached))))


def _regions_of(engine: Engine, path: str, function: str) -> list[Region]:
    """The regions of a file, or those of a function, with all that compile the same function."""
    mine = [
        one
        for one in engine.regions(path)
        if function in ("", one.function) and path in (one.span.path, one.defined.path if one.defined else "")
    ]
    defined = {(one.function, one.defined) for one in mine if one.defined is not None}
    others = (one for place in {span.path for _, span in defined} for one in engine.regions(place))
    return list(dict.fromkeys((*mine, *(one for one in others if (one.function, one.defined) in defined))))


def regions_calling(engine: Engine, finding: Diagnostic) -> Iterator[tuple[Region, Callee]]:
    """The regions that call the marked function of a finding, those of other files as far as they are known by now."""
    if not finding.links or finding.marker == "compiled":
        return
    marker = marker_of(finding)
    for region in dict.fromkeys((*engine.regions(marker.path), *engine.regions())):
        for callee in region.marked:
            if callee.function == finding.function and located(engine, callee.mark) == marker:
                yield region, callee


def by_place(engine: Engine, seen: Iterable[View], path: str) -> dict[tuple[str, Location], View]:
    """Regions by function and the place in a file where they stand: its definition, else the call that compiles it.

    Those of a function that is compiled several times are together.
    """
    found: dict[tuple[str, Location], View] = {}
    for view in seen:
        defined = view.region.defined
        span = defined if defined is not None and defined.path == path else view.region.span
        where = located(engine, span) if span.path == path else None
        if where is not None:
            known = found.get((view.region.function, where))
            found[view.region.function, where] = known.joined(view) if known is not None else view
    return found


class Reach:
    """What is found in functions, each file asked once; in the thread of the analysis."""

    def __init__(self, engine: Engine) -> None:
        """Begin with nothing."""
        self._engine = engine
        self._known: dict[str, tuple[Diagnostic, ...]] = {}

    def of(self, path: str, function: str = "", marked_in: frozenset[str] = frozenset()) -> tuple[Diagnostic, ...]:
        """What is found in a function that is marked in a file, or in others; or all that has to do with the file."""
        if path not in self._known:
            self._known[path] = self._engine.findings_of(path, "")
        if not function:
            return self._known[path]
        paths = {path, *marked_in}
        return tuple(one for one in self._known[path] if reached_by(one, paths, function))

    def views(self, path: str = "") -> list[View]:
        """The regions in or from a file, or of the workspace."""
        return [self.view(region) for region in self._engine.regions(path)]

    def view(self, region: Region) -> View:
        """A region with all that is found in it."""
        places = frozenset(span.path for span in (region.site, region.defined) if span is not None)
        own = self.of(region.span.path, region.function, places) if region.function else ()
        called = (Called(callee, self.of(callee.mark.path, callee.function)) for callee in region.marked)
        return View(region, own, tuple(called), self._engine.ran(region))


#: The verdicts from the worst to the best; what has none stands behind what is confirmed.
_VERDICTS = (Status.CONFIRMED, None, Status.INCONCLUSIVE, Status.REFUTED)


def rank(finding: Diagnostic) -> tuple[int, int]:
    """What findings are sorted by, the worst first."""
    return _VERDICTS.index(finding.verdict.status if finding.verdict is not None else None), -finding.severity


def undecided(findings: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """What an experiment may still decide: not what torch told by itself."""
    return tuple(one for one in findings if one.verdict is None and not one.observed)


def state_of(findings: Sequence[Diagnostic]) -> State:
    """The worst of some findings."""
    confirmed = _of(findings, Status.CONFIRMED)
    if confirmed:
        return State(Status.CONFIRMED.value, confirmed)
    left = [one.severity for one in findings if one.verdict is None]
    if left:
        return State(max(left).label, left.count(max(left)))
    for status in (Status.INCONCLUSIVE, Status.REFUTED):
        if number := _of(findings, status):
            return State(status.value, number)
    return State()


def _of(findings: Iterable[Diagnostic], status: Status) -> int:
    return sum(one.verdict is not None and one.verdict.status is status for one in findings)


def located(engine: Engine, span: Span) -> Location | None:
    """Where a span is, for users; None if its file cannot be read."""
    source = engine.source(span.path)
    return source.locate(span) if source is not None else None


def kinds_of(findings: Sequence[Diagnostic]) -> list[str]:
    """What is known of some findings beside their code: `confirmed` by an experiment, `observed` in a real run."""
    confirmed = any(one.verdict is not None and one.verdict.status is Status.CONFIRMED for one in findings)
    observed = any(one.observed or (one.sighting is not None and not one.sighting.passed) for one in findings)
    return [kind for kind, holds in (("confirmed", confirmed), ("observed", observed)) if holds]


def found_at(engine: Engine, view: View, span: Span) -> list[Diagnostic]:
    """What is found in a region exactly at a place."""
    where = located(engine, span)
    return [one for one in view.findings if one.location == where]


def finding_of(engine: Engine, view: View, broken: Break) -> Diagnostic | None:
    """What is told of a break."""
    return next(iter(found_at(engine, view, broken.span)), None)


def breaks_in(engine: Engine, path: str) -> Iterator[tuple[View, int, Break]]:
    """The breaks that stand in a file, each with its number in its region, from 1."""
    for view in views(engine, path):
        for number, broken in enumerate(view.region.breaks, 1):
            if broken.span.path == path:
                yield view, number, broken
