"""What a body does beyond computing: effects at their places, collected per function and read by the rules."""

from __future__ import annotations

import ast
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.events import Drawn, Event, Read
from nonstrict.facts.context_variables import variable
from nonstrict.facts.keeping import Kept, kept_by_key, ways_past
from nonstrict.facts.steps import may_meet
from nonstrict.findings import ENVIRONMENT, Cause, Output, Span, Subject
from nonstrict.program.domain.access_paths import FRESH, AccessPath, Root
from nonstrict.program.domain.exceptions import handles
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Kind, Value, join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import How
    from nonstrict.program.domain.definitions import Function


class Sight(NamedTuple):
    """How a symbol that follows from data can be seen in a value that carries it (`symbols`)."""

    #: behind arithmetic with numbers that are not known: a sum of two; of what a region is given, behind any
    hidden: bool = False
    #: behind what cannot be undone: a rounding, a quotient with a remainder
    lost: bool = False
    #: what it is multiplied by, and what is then added
    times: float = 1
    added: float = 0
    #: the bound of a slice, whose size it is if `torch._check` says that it lies within
    unchecked: bool = False
    #: the dimension whose size it is, where that is known
    along: int | None = None
    #: the same dimension counted from the end, where that is known: -1 is the last
    behind: int | None = None
    #: also how far apart the elements of a dimension are in memory
    strided: bool = False
    #: a list has such a symbol for each of its entries
    each: bool = False
    #: which of the entries of a list, and of how many (0 if not known); None for all of them
    part: tuple[int, int] | None = None
    #: also where the tensor begins in its memory
    offset: bool = False
    #: the size of a part of a tensor
    split: bool = False
    #: where the tensor begins in its memory, and nothing else
    start: bool = False

    @property
    def is_shown(self) -> bool:
        """Whether the symbol can be told from the value, if it may bound a slice."""
        return self.strided or self.start or not (self.hidden or self.lost or self.added)


#: A symbol that stands there by itself.
PLAIN = Sight()


class Effect(NamedTuple):
    """One event. `node` is the expression it is reported on, in the file `path`, `offset` lines further down."""

    event: Event
    path: str
    offset: int
    node: ast.AST
    place: AccessPath = FRESH
    value: Value = UNKNOWN
    what: str = ""
    how: How | None = None
    #: a WRITE or LEAK that happens once, behind a test whether it happened: the idiom of a lazily filled cache
    lazy: bool = False
    #: only some calls of the function get here; told of effects in regions only
    conditional: bool = False
    #: what the nearest `error_on_graph_break` around it in the function says
    strict: bool | None = None
    #: of a symbol that follows from data: how a value shows it, and what tells it from others where not the effect
    sight: Sight = PLAIN
    symbol: tuple[object, ...] = ()
    #: of a RANDOM, where the value comes from
    drawn: Drawn = Drawn.OTHER
    #: of an IO that only tells people something, where: without it the program computes and keeps the same
    output: Output = Output.NONE
    #: a BREAK that only tells people something, behind a switch
    telling: bool = False
    #: of a WRITE or LEAK in a container: the steps to the entries that change; none where it may be any of them
    entries: tuple[str, ...] = ()
    #: of a GUARD in a function that is none of the program's: what a call passes there, as it is written
    passed: str = ""

    @property
    def text(self) -> str:
        """What users know the place by: as a call of theirs passes it, or else as their function names it."""
        return self.passed or self.place.text

    @property
    def span(self) -> Span:
        """The range of `node` in the analysed code."""
        return span_of(self.path, self.offset, self.node)

    @property
    def cause(self) -> Cause:
        """What findings and experiments have to know of it."""
        return Cause(self.event, self.how, self.subject, self.output)

    @property
    def subject(self) -> Subject | None:
        """The state that it is about; None for what is made in the body or not known."""
        place = self.place
        if self.event is Event.AMBIENT and isinstance(self.value.const, str) and not place.captured:
            return Subject(ENVIRONMENT, self.value.const)
        known = place.name and place.root not in (Root.FRESH, Root.UNKNOWN)
        return Subject(place.root.value, place.name, place.path) if known else None

    @property
    def reads_metadata(self) -> bool:
        """Whether it reads nothing but the shape, dtype or device of a captured value."""
        return isinstance(self.how, Read) and self.how.is_of_metadata

    @property
    def key(self) -> tuple[object, ...]:
        """Identity: the same event at the same expression on the same place is one effect.

        A call reaches each of several functions.
        """
        node = self.node
        if self.event is Event.GUARD:
            return (self.event, self.place, self.how, self.sight.lost)  # what is guarded once is guarded
        what = id(self.value.ref) if self.event is Event.CALLED else self.what
        return (self.event, self.path, self.offset, id(node), self.place, what, self.how)

    @property
    def changed(self) -> tuple[AccessPath, ...]:
        """The places that a WRITE or LEAK changes: entries of a container where their keys are known."""
        return tuple(self.place.step(entry) for entry in self.entries) or (self.place,)


def span_of(path: str, offset: int, node: ast.AST) -> Span:
    """The span of a node that was parsed `offset` lines below the start of its file."""
    line: int = getattr(node, "lineno", 1)
    column: int = getattr(node, "col_offset", 0)
    end_line: int = getattr(node, "end_lineno", None) or line
    end_column: int = getattr(node, "end_col_offset", None) or column
    return Span(path, line + offset, column, end_line + offset, end_column)


#: Carried by tensors that autograd records, where that is kept track of.
NEEDED = Effect(Event.GRADIENT, "", 0, ast.Pass())


_ANYWHERE = ast.Pass()


def given_at(value: Value) -> Effect:
    """What a number, text or truth value carries from where a region has it, and what is computed of it."""
    return Effect(Event.GUARD, "", 0, _ANYWHERE, value.place, value._replace(taint=frozenset()))


def coarsened(taint: frozenset[Any]) -> frozenset[Any]:
    """What a number carries to which several numbers lead: a rest, a quotient without one."""
    return _seen(taint, lost=True)


def hidden(taint: frozenset[Any]) -> frozenset[Any]:
    """What a number carries that is computed of others, each of which leads to another one: a sum."""
    return _seen(taint, hidden=True)


def _seen(taint: frozenset[Any], **how: bool) -> frozenset[Any]:
    given = frozenset(one for one in taint if one.event is Event.GUARD)
    return (taint - given) | {one._replace(sight=one.sight._replace(**how)) for one in given} if given else taint


class CallEdge(NamedTuple):
    """A call whose body was followed. `deferred` is "hook" where the callee runs as a hook or in a backward pass."""

    path: str
    offset: int
    node: ast.AST
    callee: str
    summary: Summary
    deferred: str = ""
    caught: tuple[str, ...] = ()
    #: the callee is behind `functools.cache`: plain Python keeps its first result too
    cached: bool = False
    #: the callee is given nothing that cannot be a key of a cache
    keyed: bool = False
    conditional: bool = False
    #: as for effects
    strict: bool | None = None
    #: the context variables that the caller has set for the call
    variables: frozenset[str] = frozenset()

    @property
    def span(self) -> Span:
        """The range of the call."""
        return span_of(self.path, self.offset, self.node)


@dataclass(slots=True, eq=False)
class Summary:
    """What one function does for one kind of arguments; grows while it is interpreted, then only read."""

    function: str
    effects: dict[tuple[object, ...], Effect] = field(default_factory=dict[tuple[object, ...], Effect])
    calls: dict[tuple[object, ...], CallEdge] = field(default_factory=dict[tuple[object, ...], CallEdge])
    returns: Value | None = None
    open_end: bool = False  # control may run off the end
    #: what each expression and parameter held, what each name was bound to, and what each `return` statement returned:
    #: the join over all rounds of loops and all calls that the summary stands for
    held: dict[ast.AST, Value] = field(default_factory=dict["ast.AST", "Value"])
    #: unbacked values made here: harmless if they reach what the marked function returns
    unbacked: dict[tuple[object, ...], Effect] = field(default_factory=dict[tuple[object, ...], Effect])
    #: keys of unbacked values that torch may know here
    resolved: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: keys of those that have to be known as a Python value here, and of those that `torch._check` was told of
    decisive: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    checked: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: keys of those that cannot be negative, as `torch._check` was told or a size says, and of those that have a limit
    floored: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    capped: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: of symbols that slices have, the keys of those that bound the slice
    bounded: dict[tuple[object, ...], frozenset[tuple[object, ...]]] = field(
        default_factory=dict[tuple[object, ...], frozenset[tuple[object, ...]]]
    )
    #: keys of those of which `torch._check` was told what they are
    known: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: nondeterministic values made here, and the keys of those that decided something here: effects if they did
    draws: dict[tuple[object, ...], Effect] = field(default_factory=dict[tuple[object, ...], Effect])
    settled: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: those that were stored outside, with where: they decide something if what is stored there is read
    recorded: set[tuple[tuple[object, ...], AccessPath]] = field(
        default_factory=set[tuple[tuple[object, ...], "AccessPath"]]
    )
    #: keys of effects in conditions on which nothing depends but what is done besides computing
    idle: set[tuple[object, ...]] = field(default_factory=set[tuple[object, ...]])
    #: the function, where this is the summary of one that was called
    definition: Function | None = None
    #: of code in a region, the expressions by which tensors are computed, and whether that is sure
    operations: dict[ast.AST, bool] = field(default_factory=dict["ast.AST", bool])

    def add(self, effect: Effect) -> None:
        """Record an effect once; what changes other entries, or puts something else, each time does all of that."""
        known = self.effects.setdefault(effect.key, effect)
        if known.event is Event.WRITE and known.value != effect.value:
            known = self.effects[effect.key] = known._replace(value=join(known.value, effect.value))
        if known.entries != effect.entries:
            both = (*known.entries, *(one for one in effect.entries if one not in known.entries))
            entries = both if known.entries and effect.entries else ()
            self.effects[effect.key] = known._replace(entries=entries)

    def add_observed(self, observed: Observed, *, conditional: bool) -> None:
        """Record an effect that was seen from here, behind the calls that lead to it."""
        holder = self
        for edge in observed.chain:
            inner = Summary(edge.summary.function, definition=edge.summary.definition)
            holder.add_call(edge._replace(summary=inner, conditional=edge.conditional or conditional))
            holder = inner
        holder.add(observed.effect._replace(conditional=observed.effect.conditional or conditional))

    def hold(self, node: ast.AST, value: Value) -> None:
        """Record what an expression, parameter, bound name or `return` statement holds this time."""
        known = self.held.get(node)
        if known is not value:
            self.held[node] = value if known is None else join(known, value)

    def add_call(self, edge: CallEdge) -> None:
        """Record a followed call once per callee context."""
        self.calls.setdefault((id(edge.node), id(edge.summary), edge.deferred), edge)


class Observed(NamedTuple):
    """An effect as the marked function sees it: the calls that lead to it, and whether it runs in a hook."""

    effect: Effect
    chain: tuple[CallEdge, ...]
    in_hook: bool
    #: of a symbol that follows from data: a Python value is asked for
    decides: bool = False
    #: behind a cache written by hand: where results leave that it does not keep
    leaving: tuple[Span, ...] = ()


class Reached(NamedTuple):
    """A summary, a shortest chain of calls to it, whether it runs in a hook, and whether a cache keeps its result."""

    summary: Summary
    chain: tuple[CallEdge, ...]
    in_hook: bool
    cached: bool
    #: the context variables that the calls have set
    variables: frozenset[str] = frozenset()
    #: what the function does once for each key, if it is called with what may be a key
    kept: Kept | None = None
    #: where results leave that a cache on the way here would keep
    leaving: tuple[Span, ...] = ()

    def happens_once(self, node: ast.AST) -> bool:
        """Whether what an expression gives is kept on every way that leads to a result."""
        return self.kept is not None and node in self.kept.nodes and not ways_past(self.kept, node)

    def not_kept(self, at: Effect | CallEdge) -> tuple[Span, ...]:
        """Where results leave that a cache would keep, if they come from an effect or call of the function."""
        if self.kept is None or at.node not in self.kept.nodes:
            return self.leaving
        found = (span_of(at.path, at.offset, statement) for statement in ways_past(self.kept, at.node))
        return (*self.leaving, *found)


def reachable(root: Summary, *, cached: bool = False, kept: Kept | None = None) -> Iterator[Reached]:
    """The summaries reached from a root, nearest first.

    `cached` says whether a cache keeps what the root returns, `kept` what of the root one keeps by key.
    """
    queue: deque[Reached] = deque([Reached(root, (), False, cached, kept=kept)])
    seen = {(id(root), False, cached, frozenset[str]())}
    while queue:
        reached = queue.popleft()
        yield reached
        for edge in reached.summary.calls.values():
            once = reached.cached or edge.cached or reached.happens_once(edge.node)
            deferred = reached.in_hook or bool(edge.deferred)
            set_here = reached.variables | edge.variables
            state = (id(edge.summary), deferred, once, set_here)
            if state not in seen:
                seen.add(state)
                chain = (*reached.chain, edge)
                leaving = reached.not_kept(edge)
                queue.append(Reached(edge.summary, chain, deferred, once, set_here, _kept_by(edge), leaving))


def _kept_by(edge: CallEdge) -> Kept | None:
    """What a called function does once for each key, where it is called with what may be a key."""
    function = edge.summary.definition
    return kept_by_key(function.node) if edge.keyed and function is not None else None


#: What happens once where a cache keeps the result, traced or not.
_ONCE = frozenset({Event.AMBIENT, Event.IO, Event.RANDOM, Event.WRITE})


#: Captured values that fail to compile, wherever they are read.
_TRACKED = TENSORS | {Kind.MODULE, Kind.UNION}


def _happens_once(effect: Effect) -> bool:
    reads_state = effect.event is Event.READ and effect.value.kind not in _TRACKED
    return reads_state or effect.event in _ONCE


def _read_again(states: list[Reached]) -> set[tuple[object, ...]]:
    """The draws that are stored where something is read: what is only recorded decides nothing."""
    recorded = set[tuple[tuple[object, ...], AccessPath]]().union(*(reached.summary.recorded for reached in states))
    if not recorded:
        return set()
    read = {
        effect.place
        for reached in states
        for key, effect in reached.summary.effects.items()
        if effect.event in (Event.READ, Event.ATTRIBUTE) and key not in reached.summary.idle
    }
    return {
        key for key, place in recorded if any(place[:3] == one[:3] and may_meet(place.path, one.path) for one in read)
    }


def _visible(returned: Value, within: set[tuple[object, ...]]) -> set[tuple[object, ...]]:
    """The symbols that can be seen in what a function returns; `within` are those that `torch._check` sets limits."""
    seen: dict[tuple[object, ...], list[Effect]] = {}
    for effect in _everywhere(returned):
        if effect.sight.is_shown and (not effect.sight.unchecked or effect.key in within):
            seen.setdefault(effect.symbol or effect.key, []).append(effect)
    return {symbol for symbol, effects in seen.items() if _complete(effects)}


def _complete(effects: list[Effect]) -> bool:
    """Whether all symbols of a list are there, not only those of some of its entries."""
    parts = [one.sight.part for one in effects]
    if None in parts or any(_is_behind_all(one) for one in effects):
        return True
    positions = {part[0] for part in parts if part is not None}
    count = max(part[1] for part in parts if part is not None)
    return positions >= set(range(count)) if count else positions != {0}


def _is_behind_all(effect: Effect) -> bool:
    """Whether the last of two parts of a tensor tells both sizes: its own, and where it begins."""
    return effect.sight.part == (1, 2) and effect.sight.offset


def _everywhere(value: Value) -> set[Effect]:
    symbols: set[Effect] = set()
    queue, seen = [value], set[int]()
    while queue:
        one = queue.pop()
        symbols.update(effect for effect in one.taint if effect.event is Event.ESCAPE)
        if one.kind is Kind.UNION:
            queue += one.alternatives()
        heap = one.heap
        if heap is None or id(heap) in seen:
            continue
        seen.add(id(heap))
        queue += heap.items.values()
        queue += heap.attributes.values()
        queue += [part for part in (heap.loose, heap.element if not heap.items else None) if part is not None]
    return symbols


def observed(root: Summary, *, cached: bool = False, kept: Kept | None = None, frozen: bool = False) -> list[Observed]:
    """Every effect reachable from a summary, nearest first, each with a shortest call chain.

    `cached` says whether a cache keeps what the root returns, `kept` what of the root one keeps by key, `frozen` that
    the result leaves the graph: data that is only returned has been read all the same.
    """
    states = list(reachable(root, cached=cached, kept=kept))
    taint = root.returns.taint if root.returns is not None else frozenset[Effect]()
    returned = {effect.key for effect in taint}
    floored = set[tuple[object, ...]]().union(*(reached.summary.floored for reached in states))
    within = floored.intersection(set[tuple[object, ...]]().union(*(reached.summary.capped for reached in states)))
    seen = _visible(root.returns, within) if root.returns is not None else set[tuple[object, ...]]()
    harmless = set[tuple[object, ...]]().union(*(reached.summary.resolved for reached in states))
    decisive = set[tuple[object, ...]]().union(*(reached.summary.decisive for reached in states))
    decided = returned.union(*(reached.summary.settled for reached in states), _read_again(states))
    found: dict[tuple[object, ...], Observed] = {}
    for effect in taint:
        if effect.event is Event.BREAK:
            found[effect.key, False] = Observed(effect, (), False)
    for reached in states:
        summary, chain, in_hook, behind_cache, variables, *_ = reached
        effects = list(summary.effects.values())
        for key, effect in summary.unbacked.items():
            shown = key in harmless or (effect.symbol or key) in seen
            bounded = summary.bounded.get(key)
            shown = shown or (bounded is not None and bounded <= floored)
            if (frozen and bounded is None) or key in decisive or not shown:
                effects.append(effect)
        effects += [effect for key, effect in summary.draws.items() if key in decided]
        for effect in effects:
            if _happens_once(effect) and (behind_cache or (not effect.lazy and reached.happens_once(effect.node))):
                continue
            if variables and effect.event is Event.AMBIENT and variable(effect.node) in variables:
                continue
            if effect.event is Event.RAISE and any(handles(edge.caught, effect.what, effect.value) for edge in chain):
                continue
            one = Observed(effect, chain, in_hook, effect.key in decisive, reached.not_kept(effect))
            found.setdefault((effect.key, in_hook), one)
    return list(found.values())
