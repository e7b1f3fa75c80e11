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
from nonstrict.facts.fates import text_of as parents_of
from nonstrict.facts.holding import Kept, Shares, Way
from nonstrict.facts.library_calls import called
from nonstrict.facts.running_order import order_of
from nonstrict.facts.walk import own_scope
from nonstrict.findings import Related
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.regions import calls, requiring, torch_states
from nonstrict.program.contracts.regions.assigned import is_named
from nonstrict.program.contracts.regions.capturing import KeptResult, Limit, are_asked_for
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.domain.values import PRIMITIVES, Kind
from nonstrict.program.objects import naming
from nonstrict.program.objects.classes import is_module

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts import running_order
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
_BACKWARD = "backward"


class _Site(NamedTuple):
    """A call that gives a result of the region, in the text that a frame runs."""

    frame: Frame
    node: ast.AST

    @property
    def text(self) -> running_order.Root:
        return naming.text_of(self.frame)


def of_region(region: Interpreted) -> Iterator[KeptResult]:
    """The places where results of a region are kept too long, as far as the texts tell that call it."""
    made = [_Site(frame, node) for frame, node, _, _ in calls.of(region)]
    if not made or len(made) > _MOST or _gives_no_tensor(region) or _differs(region):
        return
    found: dict[ast.AST, KeptResult] = {}
    known = _Runs(region)
    for site in made:
        names = naming.names_at(site.frame)
        if isinstance(site.node, ast.Call) and not names(site.node.func).startswith("builtins."):
            for one in _of_site(known, site, _HOPS):
                found.setdefault(one.seen.effect.node, one)
    yield from found.values()


def _gives_no_tensor(region: Interpreted) -> bool:
    """Whether a region surely returns something else."""
    if region.mark.function is None:
        return False
    returns = region.summary.returns
    returned = [one.kind for one in returns.alternatives()] if returns is not None else []
    return bool(returned) and PRIMITIVES.issuperset(returned)


def _differs(region: Interpreted) -> bool:
    """Whether the function is compiled elsewhere without CUDA graphs: which one a call runs is not told apart."""
    function, sites = region.mark.function, region.machine.part(Compilations).every()
    made = [one for site in sites for one in site.compiled if function is not None]
    return any(one.function is function and not are_asked_for(one.options) for one in made)


class _Runs:
    """What runs CUDA graphs: calls in texts, and the functions that regions run themselves."""

    def __init__(self, region: Interpreted) -> None:
        self.region = region
        own = self._own()
        self.direct = frozenset(node for _, node, _, _ in own)
        self._nodes = frozenset(self._calling(own))
        self._known: dict[ast.AST, tuple[ast.AST, ...]] = {}
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
            if are_asked_for(other.options) and other.function is not self.region.mark.function:
                made += callers.calls_of_function(machine, other.function)
        compilations = machine.part(Compilations)
        of_torch = (site for site in compilations.every() if are_asked_for(site.options))
        return [*made, *(call for site in of_torch for call in compilations.calls.get(site.node, ()))]

    def of(self, text: running_order.Root) -> tuple[ast.AST, ...]:
        """Those in one text, in its order, outside of the functions that it defines."""
        if text not in self._known:
            self._known[text] = tuple(node for node in own_scope(text) if node in self._nodes)
        return self._known[text]

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


def _of_site(runs: _Runs, site: _Site, hops: int) -> Iterator[KeptResult]:
    frame, text = site.frame, site.text
    if not isinstance(site.node, ast.expr):
        return
    limits = _limits(runs, site)
    found = holding.kept(text, site.node, Shares(partial(_views, frame), naming.names_at(frame), runs.direct))
    for one in found:
        if one.way in (Way.RETURNED, Way.YIELDED):
            if one.value is one.node:  # and no part of a tuple, of which callers take another
                yield from _handed(runs, site, one, hops)
        elif (beyond := _beyond(site, site.node, one, limits)) is not None and not runs.is_traced(frame.function):
            yield _told(site, one, beyond, limits)
            if one.way is Way.CONTAINER and not one.name:
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
    made, own = [one for one in own_scope(text) if isinstance(one, ast.Call)], runs.of(text)
    if is_named(machine, _MARK):
        return _Limits(Limit.STEP, tuple(one for one in made if names(one.func) in _MARKS), own)
    if torch_states.are_gradients_off(site.frame, site.node) or not _may_need_gradients(runs.region, site):
        return _Limits(Limit.RUN, own, own)
    backward = (one for one in made if isinstance(one.func, ast.Attribute) and one.func.attr == _BACKWARD)
    if is_named(machine, _BACKWARD):
        return _Limits(Limit.BACKWARD, tuple(backward), own)
    return _Limits(Limit.NEVER, own, own)


def _views(frame: Frame, call: ast.Call) -> bool:
    """Whether what a call gives has the memory of what it is called on, or given."""
    operator = called(naming.names_at(frame), call).operator
    return operator is not None and operator.views and not (operator.mutates or operator.itself_or_copy)


def _handed(runs: _Runs, site: _Site, one: Kept, hops: int) -> Iterator[KeptResult]:
    """What those keep who call the function that hands on a result."""
    function = site.frame.function
    if function is None or not hops:
        return
    for frame, node, _, _ in callers.calls_of_function(runs.region.machine, function):
        outer = _Site(frame, node)
        if one.way is Way.YIELDED:
            yield from _collected(runs, site, one, outer)
        else:
            yield from _of_site(runs, outer, hops - 1)


def _collected(runs: _Runs, site: _Site, one: Kept, outer: _Site) -> Iterator[KeptResult]:
    """What a generator yields where all of it is put into one container: `list(predictions(batches))`."""
    around, names = parents_of(outer.text).parents.get(outer.node), naming.names_at(outer.frame)
    if not isinstance(around, ast.Call) or outer.node not in around.args or runs.is_traced(outer.frame.function):
        return
    limits = _limits(runs, site)
    if limits.each and names(around.func) in holding.CONTAINERS:
        told = _told(site, one, outliving.Outlived(site.node, site.node), limits)
        span = span_of(outer.frame.module.path, outer.frame.offset, around)
        yield told._replace(evidence=(Related(span, _COLLECTED),))


def _beyond(site: _Site, node: ast.expr, one: Kept, limits: _Limits) -> outliving.Outlived | None:
    """What a result is kept beyond in the same text, and what reads it then."""
    text, every = site.text, limits.each
    if one.way is Way.GIVEN:
        run = parents_of(text).parents[one.node]
        return outliving.Outlived(run, one.node) if every and run in limits.runs else None
    if one.way is Way.CONTAINER and not one.name:  # a comprehension goes on before anything reads what it made
        return outliving.Outlived(node, one.node) if every else None
    if one.way is Way.CONTAINER:
        collected = outliving.collected(text, one, node)
        if collected is not None and not every:
            order = order_of(text)
            collected = collected if any(order.shares_loop(one.node, end) for end in limits.ends) else None
        return collected or _outlived(text, one, limits, again=False)
    lives_on = one.way is Way.ATTRIBUTE or outliving.is_shared(text, one.name)
    return _outlived(text, one, limits, again=lives_on)


def _outlived(text: running_order.Root, one: Kept, limits: _Limits, *, again: bool) -> outliving.Outlived | None:
    ended = outliving.outlived(text, one, limits.ends, again=again)
    return ended if limits.each or outliving.outlived(text, one, limits.runs, again=again) else None


def _told(site: _Site, one: Kept, beyond: outliving.Outlived, limits: _Limits) -> KeptResult:
    frame, name = site.frame, "".join(one.name)
    path, offset = frame.module.path, frame.offset
    node = one.node if one.way is not Way.VARIABLE else site.node
    effect = Effect(Event.KEPT, path, offset, node, AccessPath(Root.UNKNOWN, "", name))
    span = partial(span_of, path, offset)
    evidence = [Related(span(beyond.run), _RUNS[limits.kind])] if beyond.run is not site.node else []
    evidence += [Related(span(beyond.read), _USED)] if beyond.read not in (one.node, site.node) else []
    return KeptResult(Observed(effect, (), in_hook=False), one.way, name, span(one.value), tuple(evidence), limits.kind)


def _may_need_gradients(region: Interpreted, site: _Site) -> bool:
    """Whether results may wait for their backward pass: of parameters, and of what a module is given."""
    target, owner = region.mark.target, site.frame.function.owner if site.frame.function is not None else None
    held = target.bound.receiver if target.bound is not None else target
    if held.kind is Kind.MODULE or any(True for _ in region.observed(Event.LAYER)):
        return True
    if owner is not None and is_module(owner):
        return True
    passed = [*site.node.args, *(one.value for one in site.node.keywords)] if isinstance(site.node, ast.Call) else []
    values = (site.frame.machine.evaluate(site.frame, one) for one in passed if not isinstance(one, ast.Starred))
    forms = {requiring.form(site.frame, one) for one in passed}
    if any(one.kind is Kind.PARAMETER for one in values):
        return True
    return not forms.isdisjoint((requiring.GRADIENTS, requiring.PARAMETER))
