"""Into how many graphs a region is compiled where its graph breaks, told from its tensor operations and its breaks.

Measured on torch 2.13 and 2.15: a break ends a graph, and what comes behind it is a graph of its own if it computes
anything. A function in which the graph breaks is not a part of its caller's graph any more: the caller's breaks at the
call too, and the function is compiled by itself, once. A function that is given up has no graph, though those that it
calls do.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from nonstrict.events import Construct, Event
from nonstrict.knowledge.graph_breaks import falls_back

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import CallEdge, Observed, Summary


class Part(NamedTuple):
    """What a region consists of once it is compiled, in order: a graph, a break, or a function that is given up.

    `function` is the one in whose text it lies, from `first` to `last` expression; `depth` counts the calls that lead
    there. It is `sure` where every call of the region comes to it. A break, or what a function is given up for, is
    `seen` there, or in what is called there; `around` says what keeps torch from resuming a function.
    """

    kind: Literal["graph", "break", "eager"]
    function: Function
    depth: int
    first: ast.AST
    last: ast.AST
    sure: bool
    seen: Observed | None = None
    callee: str = ""
    around: str = ""


class Graphs(NamedTuple):
    """The least and the greatest number of graphs, as conditions may leave breaks out; and what there is, in order."""

    least: int
    most: int
    parts: tuple[Part, ...] = ()

    def and_then(self, other: Graphs, *, sure: bool = True) -> Graphs:
        """Those of two pieces of code, of which the second may not be `sure` to be run."""
        least = self.least + (other.least if sure else 0)
        return Graphs(least, self.most + other.most, self.parts + other.parts)


NO_GRAPHS = Graphs(0, 0)


class _Step(NamedTuple):
    """What comes next in the text of a function: an operation, or a break with the function that it is in."""

    node: ast.AST
    breaks: bool
    #: of an operation whether it surely computes, of a break whether it surely happens
    surely: bool
    #: what the function is given up for then, "" if it is not
    stops: str = ""
    callee: CallEdge | None = None
    seen: Observed | None = None

    def part(self, kind: Literal["break", "eager"], function: Function, depth: int) -> Part:
        """A break as a part of a region."""
        called = self.callee.callee if self.callee is not None else ""
        return Part(kind, function, depth, self.node, self.node, self.surely, self.seen, called, self.stops)


@dataclass(slots=True)
class _Pieces:
    """The graphs of one function so far, and what was computed since the last break: surely, or perhaps."""

    function: Function
    depth: int
    counted: Graphs = NO_GRAPHS
    surely: bool = False
    since: list[ast.AST] = field(default_factory=list["ast.AST"])

    def operation(self, step: _Step) -> None:
        """Something is computed."""
        self.surely |= step.surely
        self.since.append(step.node)

    def end(self, *, surely: bool) -> None:
        """A graph ends here."""
        if self.since:
            part = Part("graph", self.function, self.depth, self.since[0], self.since[-1], self.surely and surely)
            self.counted = self.counted.and_then(Graphs(int(part.sure), 1, (part,)))
        self.since = []
        if surely:
            self.surely = False


@dataclass(slots=True)
class _Counting:
    """One count: where the graph breaks, by function, and what was counted already."""

    region: Interpreted
    breaks: dict[ast.AST, list[Observed]]
    broken: dict[int, bool | None] = field(default_factory=dict[int, "bool | None"])
    done: set[ast.AST] = field(default_factory=set["ast.AST"])

    def of(self, summary: Summary, function: Function, depth: int = 0) -> Graphs:
        """The graphs of one function, and of those that it leads to and that are no part of them."""
        if function.node in self.done:
            return NO_GRAPHS  # compiled already
        self.done.add(function.node)
        steps = sorted(self._steps(summary, function), key=lambda step: _order(step.node))
        stop = next((step for step in steps if step.stops and step.surely), None)
        if stop is not None:
            return Graphs(0, 0, (stop.part("eager", function, depth),)).and_then(self._of_called(summary, depth))
        pieces = _Pieces(function, depth)
        for step in steps:
            if not step.breaks:
                pieces.operation(step)
                continue
            pieces.end(surely=step.surely)
            pieces.counted = pieces.counted.and_then(Graphs(0, 0, (step.part("break", function, depth),)))
            if step.callee is not None and step.callee.summary.definition is not None:
                inner = self.of(step.callee.summary, step.callee.summary.definition, depth + 1)
                pieces.counted = pieces.counted.and_then(inner, sure=step.surely)
        pieces.end(surely=True)
        return pieces.counted._replace(least=0) if any(step.stops for step in steps) else pieces.counted

    def _of_called(self, summary: Summary, depth: int) -> Graphs:
        """Those of the functions that a function calls which runs as plain Python."""
        found = NO_GRAPHS
        for edge in summary.calls.values():
            if edge.summary.definition is not None:
                inner = self.of(edge.summary, edge.summary.definition, depth + 1)
                found = found.and_then(inner, sure=not edge.conditional)
        return found

    def _steps(self, summary: Summary, function: Function) -> Iterator[_Step]:
        followed: set[ast.AST] = set()
        for edge in summary.calls.values():
            followed.add(edge.node)
            broken = self._breaks(edge.summary)
            if broken is not None:
                stops = self.region.in_the_way(function, edge.node)
                yield _Step(edge.node, True, broken and not edge.conditional, stops, edge)
            elif (surely := _computes(edge.summary, set())) is not None:
                yield _Step(edge.node, False, surely and not edge.conditional)
        for node, surely in summary.operations.items():
            if node not in followed:
                yield _Step(node, False, surely)
        for seen in self.breaks.get(function.node, ()):
            node = seen.effect.node
            by_itself = falls_back(seen.effect.what, self.region.torch)
            stops = self.region.in_the_way(function, node) or ("itself" if by_itself else "")
            yield _Step(node, True, not seen.effect.conditional, stops, seen=seen)

    def _breaks(self, summary: Summary) -> bool | None:
        """Whether the graph surely breaks in a function, or in what it calls; None if it does not."""
        known = id(summary)
        if known not in self.broken:
            self.broken[known] = None
            definition = summary.definition
            own = [not one.effect.conditional for one in self.breaks.get(definition.node, ())] if definition else []
            called = [(self._breaks(edge.summary), edge.conditional) for edge in summary.calls.values()]
            own += [surely and not conditional for surely, conditional in called if surely is not None]
            self.broken[known] = any(own) if own else None
        return self.broken[known]


def counted(region: Interpreted) -> Graphs:
    """Into how many graphs a region is compiled: one where nothing breaks, none where it computes nothing."""
    function = region.mark.function
    if function is None:
        return NO_GRAPHS
    breaks: dict[ast.AST, list[Observed]] = {}
    for seen in region.observed(Event.BREAK):
        if region.graph_break(seen) is not None or seen.effect.how is Construct.NATIVE:
            within = seen.chain[-1].summary.definition if seen.chain else function
            if within is not None:
                breaks.setdefault(within.node, []).append(seen)
    return _Counting(region, breaks).of(region.summary, function)


def _computes(summary: Summary, seen: set[int]) -> bool | None:
    """Whether a function, or what it calls, surely computes a tensor; None if it does not."""
    if id(summary) in seen:
        return None
    seen.add(id(summary))
    own = list(summary.operations.values())
    own += [surely for edge in summary.calls.values() if (surely := _computes(edge.summary, seen)) is not None]
    return any(own) if own else None


def _order(node: ast.AST) -> tuple[int, ...]:
    """The order in which expressions are computed: by their ends, what begins later before what it is a part of."""
    ends = getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0
    return *ends, -getattr(node, "lineno", 0), -getattr(node, "col_offset", 0)
