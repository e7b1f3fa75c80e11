"""What a run looked at: the compiled regions that it knows of, what it found out of them, and those not read."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
    those that it is given, as far as they may differ from those that torch takes otherwise. `graphs` are
    the least and greatest number into which it is compiled, `parts` what it consists of. `whole` says that the graph
    must not break. `marked` are the marked functions that it calls, `unseen` what in it was not looked into. From
    `graphs` on, it is told only where it is asked for.
    """

    span: Span
    site: Span
    function: str = ""
    defined: Span | None = None
    missed: str = ""
    options: tuple[Option, ...] = ()
    whole: bool = False
    graphs: tuple[int, int] | None = None
    parts: tuple[Part, ...] = ()
    breaks: tuple[Break, ...] = ()
    callers: tuple[Related, ...] = ()
    marked: tuple[Related, ...] = ()
    unseen: tuple[Related, ...] = ()


class Looked(NamedTuple):
    """The regions that a run knows of, and the marked functions that it looked at, by their markers."""

    regions: tuple[Region, ...] = ()
    marks: frozenset[Span] = frozenset()

    @property
    def paths(self) -> set[str]:
        """The files in which what is told of regions lies."""
        return {span.path for region in self.regions for span in _spans(region)}

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


def _spans(region: Region) -> Iterator[Span]:
    yield from (region.span, region.site)
    if region.defined is not None:
        yield region.defined
    for broken in region.breaks:
        yield broken.span
        yield from (related.span for related in broken.way)
    yield from (related.span for related in (*region.callers, *region.marked, *region.unseen))


def merged(parts: Sequence[Looked]) -> Looked:
    """What several examinations looked at: a place counts as missed if none of them knows what is compiled there."""
    known: dict[tuple[Span, Span, str], Region] = {}
    for region in (region for part in parts for region in part.regions):
        key = (region.site, region.span, region.function)
        if key not in known or (known[key].missed and not region.missed):
            known[key] = region
    resolved = {region.site for region in known.values() if not region.missed}
    kept = (region for region in known.values() if not region.missed or region.site not in resolved)
    marks = frozenset[Span]().union(*(part.marks for part in parts))
    return Looked(tuple(sorted(kept, key=lambda region: (region.span, region.function))), marks)
