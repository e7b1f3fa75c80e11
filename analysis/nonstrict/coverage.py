"""What a run looked at: the compiled regions that it knows of, what it found out of them, and those not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Span

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.findings import Related


def graphs_told(least: int, most: int) -> str:
    """How many graphs there are, between two numbers: `1 graph`, `3 to 5 graphs`, `at most 2 graphs`."""
    noun = "graph" if most == 1 else "graphs"
    between = "at most " if not least else f"{least} to " if least < most else ""
    return f"{between}{most} {noun}"


class Break(NamedTuple):
    """A construct that breaks the graph of a region.

    `id` is torch's own of such breaks (`GB0059`), "" where it has none; `way` is the call chain that leads there from
    the region. A break is `conditional` where only some calls come to it. `stops` says what keeps torch from resuming
    the region after it (`a loop`, `a try`), "" where it goes on.
    """

    span: Span
    construct: str
    id: str
    conditional: bool
    stops: str
    way: tuple[Related, ...]

    def moved(self, at: Callable[[Span], Span]) -> Break:
        """The same where the text is now."""
        return self._replace(span=at(self.span), way=_moved(self.way, at))


class Callee(NamedTuple):
    """The call of a marked function in a region, and where the function is marked."""

    span: Span
    function: str
    mark: Span

    @property
    def message(self) -> str:
        """What is called, for users."""
        return f"`{self.function}`"


class Part(NamedTuple):
    """What a compiled region consists of, in order: a graph, a break, or a function that runs as plain Python.

    `kind` is `graph`, `break` or `eager`, `function` the one that it is a part of, `depth` the number of calls that
    lead there. It is `sure` where every call of the region comes to it. `cause` is the construct of a break, or the
    function that is called there and holds one; `around` what keeps torch from resuming the function after it.
    """

    kind: str
    function: str
    span: Span
    depth: int
    sure: bool
    cause: str = ""
    around: str = ""


class Option(NamedTuple):
    """An option that a region is compiled with, if its value is `known`; `options` has entries in place of a value."""

    name: str
    value: object = None
    known: bool = True
    entries: tuple[Option, ...] | None = None


class Region(NamedTuple):
    """A function that is compiled, or a place where it is not known what is.

    `span` is where the user compiles it, `site` where `torch.compile` itself is applied, by a wrapper perhaps.
    `missed` says why nothing was looked at, "" where it was; then `function` and `defined` are not known. `options` are
    those that it is given, as far as they may differ from those that torch takes otherwise. `wasted` says why
    nothing is compiled although `torch.compile` is applied. `graphs` are the least and greatest number into which it is
    compiled, `parts` what it consists of. `whole` says that the graph must not break. `varying` is what it is compiled
    again for, `marked` are the marked functions that it calls, `unseen` what in it was not looked into. From `graphs`
    on, it is told only where it is asked for.
    """

    span: Span
    site: Span
    function: str = ""
    defined: Span | None = None
    missed: str = ""
    wasted: str = ""
    options: tuple[Option, ...] = ()
    whole: bool = False
    graphs: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    breaks: tuple[Break, ...] = ()
    callers: tuple[Related, ...] = ()
    marked: tuple[Callee, ...] = ()
    unseen: tuple[Related, ...] = ()
    varying: tuple[Related, ...] = ()

    @property
    def foretold(self) -> tuple[int, int] | None:
        """The least and greatest number of graphs that torch makes of it: none where it must not break, and does."""
        if not (self.whole and self.breaks):
            return self.graphs
        return 0, int(all(broken.conditional for broken in self.breaks))

    @property
    def uncompiled(self) -> Region:
        """The same where nothing of it is compiled."""
        return self._replace(graphs=(0, 0), parts=(), breaks=(), callers=(), varying=())

    @property
    def key(self) -> tuple[Span, Span, str]:
        """What tells it from all others."""
        return self.site, self.span, self.function

    @property
    def paths(self) -> frozenset[str]:
        """The files of its application, its definition and its breaks."""
        places = (self.span, self.site, self.defined, *(broken.span for broken in self.breaks))
        return frozenset(span.path for span in places if span is not None)

    @property
    def spans(self) -> Iterator[Span]:
        """All places that are told of it."""
        yield from (self.span, self.site)
        if self.defined is not None:
            yield self.defined
        for broken in self.breaks:
            yield broken.span
            yield from (related.span for related in broken.way)
        for called in self.marked:
            yield from (called.span, called.mark)
        yield from (one.span for one in (*self.parts, *self.callers, *self.unseen, *self.varying))

    def moved(self, at: Callable[[Span], Span]) -> Region:
        """The same where the text is now: `at` tells it of each place."""
        return self._replace(
            span=at(self.span),
            site=at(self.site),
            defined=at(self.defined) if self.defined is not None else None,
            parts=tuple(part._replace(span=at(part.span)) for part in self.parts),
            breaks=tuple(broken.moved(at) for broken in self.breaks),
            callers=_moved(self.callers, at),
            marked=tuple(called._replace(span=at(called.span), mark=at(called.mark)) for called in self.marked),
            unseen=_moved(self.unseen, at),
            varying=_moved(self.varying, at),
        )


class Looked(NamedTuple):
    """The regions that a run knows of, and the marked functions that it looked at, by their markers."""

    regions: tuple[Region, ...] = ()
    marks: frozenset[Span] = frozenset()

    @property
    def paths(self) -> set[str]:
        """The files in which what is told of regions lies."""
        return {span.path for region in self.regions for span in region.spans}

    @property
    def counts(self) -> Counts:
        """How much that is."""
        missed = sum(bool(region.missed) for region in self.regions)
        return Counts(len(self.regions) - missed, missed, len(self.marks))


class Counts(NamedTuple):
    """How many regions were looked at and how many not, and how many marked functions were looked at."""

    regions: int = 0
    missed: int = 0
    marked: int = 0


def _moved(places: tuple[Related, ...], at: Callable[[Span], Span]) -> tuple[Related, ...]:
    return tuple(place._replace(span=at(place.span)) for place in places)


def merged(parts: Sequence[Looked]) -> Looked:
    """What several examinations looked at: a place counts as missed if none of them knows what is compiled there.

    Of a region that several tell of otherwise, what the one says that knows most, whichever came first.
    """
    known: dict[tuple[Span, Span, str], Region] = {}
    for region in (region for part in parts for region in part.regions):
        before = known.get(region.key)
        if before is None or (region != before and _rank(region) < _rank(before)):
            known[region.key] = region
    resolved = {region.site for region in known.values() if not region.missed}
    kept = (region for region in known.values() if not region.missed or region.site not in resolved)
    marks = frozenset[Span]().union(*(part.marks for part in parts))
    return Looked(tuple(sorted(kept, key=lambda region: (region.span, region.function))), marks)


def _rank(region: Region) -> tuple[object, ...]:
    """What is known of a region is better the lower this is; the order is total."""
    return bool(region.missed), region.graphs is None, not region.wasted, region.graphs or (), repr(region)
