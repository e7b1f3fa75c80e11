"""Results of regions that are kept while CUDA graphs run which have their memory.

What a CUDA graph returns lies in memory that it owns, or that others of its thread own together with it. Source:
`torch/_inductor/cudagraph_trees.py` of torch 2.13 (`_run`, `try_end_curr_recording`, `dealloc_current_path_weakrefs`,
`can_start_new_generation`): each call of a compiled function begins a new generation, unless a backward pass is still
to come or the program says itself where its steps begin (`cudagraph_mark_step_begin`). The next run of any CUDA graph
then frees what is left of the one before. While graphs are warmed up and recorded a later use raises an error, after
that the memory just holds another result. A call in a region is a part of it.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts import holding, outliving
from nonstrict.facts.holding import WHOLE, Kept, Shares, Way, Where
from nonstrict.facts.library_calls import called
from nonstrict.facts.reaching import source
from nonstrict.facts.running_order import order_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.texts import text_of as parents_of
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Related
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.regions import backward, calls, found_again, meanings, torch_states
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.contracts.regions.awaiting import may_await_backward, may_need_gradients
from nonstrict.program.contracts.regions.capturing import KeptResult, Limit
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.contracts.regions.managed import Results
from nonstrict.program.contracts.regions.requested import are_asked_for
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from nonstrict.facts import running_order
    from nonstrict.facts.steps import Steps
    from nonstrict.findings import Span
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import StaticCall

#: How many functions hand on a result, at most.
_HOPS = 2
_MARK = "cudagraph_mark_step_begin"
_MARKS = frozenset({f"torch.compiler.{_MARK}", "torch._inductor.cudagraph_trees.mark_step_begin"})
_COLLECTED = "all results are kept here"
_RUNS = {
    Limit.RUN: "a CUDA graph runs here",
    Limit.NEVER: "a CUDA graph runs here",
    Limit.STEP: "a step begins here",
    Limit.BACKWARD: "the backward pass runs here",
}
_USED = "used here"
#: How many calls of a region are looked at, at most.
_MOST = 200


class _Site(NamedTuple):
    """A call that gives a result of the region, in the text that a frame runs; `inner` is the call that it hands on."""

    frame: Frame
    node: ast.AST
    inner: _Site | None = None

    @property
    def text(self) -> running_order.Root:
        return naming.text_of(self.frame)

    @property
    def made(self) -> Span:
        """Where the region is called."""
        return self.inner.made if self.inner is not None else span_of(*self.place, self.node)

    @property
    def place(self) -> tuple[str, int]:
        """The file of the text, and the lines before it."""
        return self.frame.module.path, self.frame.offset

    @property
    def needs_no_gradients(self) -> bool:
        """Whether the region runs where gradients are off."""
        inner = self.inner is not None and self.inner.needs_no_gradients
        return inner or torch_states.are_gradients_off(self.frame, self.node)


def of_region(region: Interpreted) -> Iterator[KeptResult]:
    """The places where results of a region are kept too long, as far as the texts tell that call it."""
    made = [_Site(frame, node) for frame, node, _, _ in calls.of(region)]
    if not made or len(made) > _MOST or _differs(region):
        return
    found: dict[ast.AST, KeptResult] = {}
    known = _Runs(region)
    if not known.results.may_be_managed():
        return
    for site in made:
        names = naming.names_at(site.frame)
        if isinstance(site.node, ast.Call) and not names(site.node.func).startswith("builtins."):
            for one in _of_site(known, site, _HOPS):
                found.setdefault(one.seen.effect.node, one)
    yield from found.values()


def results_passed(region: Interpreted) -> Callable[[str], bool]:
    """Tells of parameters whether a program that marks steps passes what a region gives: its CUDA graphs own that."""
    marks = is_named(region.machine, _MARK, region.mark.path)
    runs = _Runs(region).direct if marks else frozenset[ast.AST]()

    def may_be(name: str) -> bool:
        given = calls.given(region, name) if marks else ()
        return any(made_by(frame, passed).expression in runs for frame, _, passed in given)

    return may_be


def _differs(region: Interpreted) -> bool:
    """Whether the function is compiled elsewhere without CUDA graphs: which one a call runs is not told apart."""
    function, sites = region.mark.function, region.machine.part(Compilations).every()
    made = [one for site in sites for one in site.compiled if function is not None]
    asked = (are_asked_for(region.machine, one.path, one.options) for one in made if one.function is function)
    return not all(asked)


class _Runs:
    """What runs CUDA graphs: calls in texts, and the functions that regions run themselves."""

    def __init__(self, region: Interpreted) -> None:
        self.region = region
        self.results = Results(region)
        own = self._own()
        self.direct = frozenset(node for _, node, _, _ in own)
        self._nodes = frozenset(self._calling(own))
        self._known: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._made: dict[ast.AST, tuple[ast.Call, ...]] = {}
        self._passes: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._ending: dict[ast.AST, tuple[ast.AST, ...]] = {}
        self._traced: set[Function] | None = None

    def _calling(self, level: list[StaticCall]) -> Iterator[ast.AST]:
        """The calls of regions that run one, and of functions that make them."""
        for _ in range(_HOPS + 1):
            yield from (node for _, node, _, _ in level)
            outer = dict.fromkeys(frame.function for frame, _, _, _ in level if frame.function is not None)
            level = [one for each in outer for one in callers.calls_of_function(self.region.machine, each)]

    def _own(self) -> list[StaticCall]:
        """The calls of regions that are compiled to CUDA graphs."""
        machine = self.region.machine
        made = [*calls.of(self.region)]
        for other in list(machine.regions.values()):
            if are_asked_for(machine, other.path, other.options) and other.function is not self.region.mark.function:
                made += callers.calls_of_function(machine, other.function)
        compilations = machine.part(Compilations)
        of_torch = (site for site in compilations.every() if are_asked_for(machine, site.path, site.options))
        return [*made, *(call for site in of_torch for call in compilations.calls.get(site.node, ()))]

    def made(self, text: running_order.Root) -> tuple[ast.Call, ...]:
        """The calls in one text, of whatever."""
        if text not in self._made:
            self._made[text] = tuple(node for node in own_scope(text) if isinstance(node, ast.Call))
        return self._made[text]

    def passes(self, frame: Frame) -> tuple[ast.AST, ...]:
        """Those in the text of a frame that begin a backward pass."""
        text = naming.text_of(frame)
        if text not in self._passes:
            self._passes[text] = tuple(one for one in self.made(text) if backward.begins(frame, one))
        return self._passes[text]

    def of(self, text: running_order.Root) -> tuple[ast.AST, ...]:
        """The calls that run a CUDA graph in one text, in its order, outside of the functions that it defines."""
        if text not in self._known:
            self._known[text] = tuple(node for node in own_scope(text) if node in self._nodes)
        return self._known[text]

    def ending(self, frame: Frame) -> tuple[ast.AST, ...]:
        """Those in the text of a frame that may end a generation: none that comes while a backward pass is to come."""
        text = naming.text_of(frame)
        if text not in self._ending:
            order, own = order_of(text), self.of(text)
            forward = [one for one in own if _is_forward(frame, one)]
            passes = self.passes(frame)
            self._ending[text] = tuple(
                run
                for run in own
                if not any(order.precedes(one, run) and not order.any_between(one, passes, run) for one in forward)
            )
        return self._ending[text]

    def is_traced(self, function: Function | None) -> bool:
        """Whether a region runs a function itself: calls in that are a part of it."""
        if function is None:
            return False
        if self._traced is None:
            machine = self.region.machine
            known = machine.part(Regions)
            seen = [known.of(machine, one, self.region.torch) for one in list(machine.regions.values())]
            self._traced = set()
            for one in seen:
                self._follow(one.summary, self._traced)
        return function in self._traced or function.node in self.region.machine.regions

    def _follow(self, summary: Summary, found: set[Function]) -> None:
        for edge in summary.calls.values():
            definition = edge.summary.definition
            if definition is not None and definition not in found:
                found.add(definition)
                self._follow(edge.summary, found)


def _of_site(runs: _Runs, site: _Site, hops: int, where: Where = WHOLE) -> Iterator[KeptResult]:
    frame, text = site.frame, site.text
    if not isinstance(site.node, ast.expr):
        return
    limits = _limits(runs, site)
    shares = Shares(
        partial(_views, frame), naming.names_at(frame), runs.direct, runs.results.may_be_managed, meanings.at(frame)
    )
    found = holding.kept(text, site.node, shares, where)
    told: set[Steps] = set()
    for one in found:
        if one.way in (Way.RETURNED, Way.YIELDED):
            yield from _handed(runs, site, one, hops)
        elif one.way is Way.OPERAND and steps_of(one.node) in told:
            continue  # what is bound is kept too long anyway
        elif (beyond := _beyond(runs, site, site.node, one, limits)) is not None and not runs.is_traced(frame.function):
            told |= {one.name} if one.way is Way.VARIABLE else set()
            yield _told(runs, site, one, beyond, limits)
            if (one.way is Way.CONTAINER and not one.name) or (one.way is Way.OPERAND and one.value is site.node):
                return  # where the container goes is the same matter


class _Limits(NamedTuple):
    """What ends the time in which a result may be used: `ends` of some `kind`, and then one of the `runs`."""

    kind: Limit
    ends: tuple[ast.AST, ...]
    runs: tuple[ast.AST, ...]

    @property
    def each(self) -> bool:
        """Whether that is every run of a CUDA graph."""
        return self.kind in (Limit.RUN, Limit.NEVER)


def _limits(runs: _Runs, site: _Site) -> _Limits:
    """What that is for the results of a call."""
    machine, text, names = runs.region.machine, site.text, naming.names_at(site.frame)
    made, own, path = runs.made(text), runs.of(text), site.frame.module.path
    if is_named(machine, _MARK, path):
        return _Limits(Limit.STEP, tuple(one for one in made if names(one.func) in _MARKS), own)
    if site.needs_no_gradients or not may_await_backward(runs.region, site.frame, site.node):
        ending = runs.ending(site.frame)
        return _Limits(Limit.RUN, ending, ending)
    if backward.may_begin(machine, path):
        return _Limits(Limit.BACKWARD, runs.passes(site.frame), own)
    return _Limits(Limit.NEVER, own, own)


def _is_forward(frame: Frame, run: ast.AST) -> bool:
    """Whether a run waits for a backward pass."""
    is_off = torch_states.are_gradients_off(frame, run)
    return not is_off and isinstance(run, ast.expr) and may_need_gradients(frame, run)


def _views(frame: Frame, call: ast.Call) -> bool:
    """Whether what a call gives has the memory of what it is called on, or given."""
    operator = called(naming.names_at(frame), call).operator
    return operator is not None and operator.views and not operator.itself_or_copy


def _handed(runs: _Runs, site: _Site, one: Kept, hops: int) -> Iterator[KeptResult]:
    """What those keep who call the function that hands on a result."""
    function = site.frame.function
    if function is None or not hops:
        return
    for frame, node, _, _ in callers.calls_of_function(runs.region.machine, function):
        outer = _Site(frame, node, site)
        if one.way is Way.YIELDED:
            yield from _collected(runs, site, one, outer)
        else:
            yield from _of_site(runs, outer, hops - 1, one.where)


def _collected(runs: _Runs, site: _Site, one: Kept, outer: _Site) -> Iterator[KeptResult]:
    """What a generator yields where all of it is put into one container: `list(predictions(batches))`."""
    around, names = parents_of(outer.text).parents.get(outer.node), naming.names_at(outer.frame)
    if not isinstance(around, ast.Call) or outer.node not in around.args or runs.is_traced(outer.frame.function):
        return
    limits = _limits(runs, site)
    if limits.each and names(around.func) in holding.CONTAINERS:
        told = _told(runs, site, one, outliving.Outlived(site.node, site.node), limits)
        span = span_of(outer.frame.module.path, outer.frame.offset, around)
        yield told._replace(evidence=(Related(span, _COLLECTED),))


def _beyond(runs: _Runs, site: _Site, node: ast.expr, one: Kept, limits: _Limits) -> outliving.Outlived | None:
    """What a result is kept beyond in the same text, and what reads it then."""
    text, every, means = site.text, limits.each, meanings.at(site.frame)
    if one.way is Way.GIVEN:
        run = next(each for each in order_of(text).way(one.node) if isinstance(each, ast.Call))
        is_told = run in limits.runs and (every or _lies_between(site, limits, one.node))
        return outliving.Outlived(run, one.node) if is_told else None
    if one.way is Way.OPERAND:
        return outliving.beside(text, one, limits.runs, means=means) if every else None
    if one.way is Way.CONTAINER and not one.name:  # a comprehension goes on before anything reads what it made
        return outliving.made(text, one, node, means=means) if every and node in limits.runs else None
    if one.way is Way.CONTAINER:
        collected = outliving.collected(text, one, node, means=means) if not every or node in limits.runs else None
        if collected is not None and not every:
            order = order_of(text)
            collected = collected if any(order.shares_loop(one.node, end) for end in limits.ends) else None
        return collected or _outlived(site, one, limits, again=False) or _found_again(runs, site, node, one, limits)
    lives_on = one.way is Way.ATTRIBUTE or outliving.is_shared(text, one.name)
    return _outlived(site, one, limits, again=lives_on) or _found_again(runs, site, node, one, limits)


def _lies_between(site: _Site, limits: _Limits, read: ast.AST) -> bool:
    """Whether what ends the time of a result comes before it is read elsewhere."""
    order = order_of(site.text)
    ends = limits.ends if read is not site.node and read not in order.way(site.node) else ()
    return any(order.lies_between(site.node, end, read, again=False) for end in ends)


def _found_again(runs: _Runs, site: _Site, node: ast.expr, one: Kept, limits: _Limits) -> outliving.Outlived | None:
    """The same where other calls find what one keeps."""
    if not limits.each or node not in limits.runs:
        return None
    if one.way is Way.CONTAINER:
        return found_again.collected(site.frame, one, node)
    return found_again.by_methods(site.frame, one, runs.of) if one.way is Way.ATTRIBUTE else None


def _outlived(site: _Site, one: Kept, limits: _Limits, *, again: bool) -> outliving.Outlived | None:
    then = None if limits.each else limits.runs
    means = meanings.at(site.frame)
    return outliving.outlived(site.text, one, limits.ends, again=again, then=then, means=means)


def _told(runs: _Runs, site: _Site, one: Kept, beyond: outliving.Outlived, limits: _Limits) -> KeptResult:
    name, (path, offset) = "".join(one.name), site.place
    node = one.node if one.way is not Way.VARIABLE else site.node
    effect = Effect(Event.KEPT, path, offset, node, AccessPath(Root.UNKNOWN, "", name))
    span = partial(span_of, path, offset)
    evidence = [Related(span(beyond.run), _RUNS[limits.kind])] if beyond.run is not site.node else []
    evidence += [Related(span(beyond.read), _USED)] if beyond.read not in (one.node, site.node) else []
    seen, value, kinds = Observed(effect, (), in_hook=False), span(one.value), _kinds(runs, site, one)
    return KeptResult(seen, one.way, name, value, tuple(evidence), limits.kind, kinds, one.is_value, site.made)


def _kinds(runs: _Runs, site: _Site, one: Kept) -> frozenset[Kind]:
    """What a result may be that is kept; also unknown where a variable may hold others, or a function gives others."""
    base, text = one.value, site.text
    while isinstance(base, (ast.Attribute, ast.Subscript)):
        base = base.value
    bound = source(text, base) if not isinstance(text, ast.ClassDef) else base
    surely = bound is site.node and bound in runs.direct
    kinds = frozenset(value.kind for value in runs.results.at(one.where.part))
    return kinds if surely else kinds | {Kind.UNKNOWN}
