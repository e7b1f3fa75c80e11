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
from nonstrict.facts.walk import own_scope, walk
from nonstrict.findings import Related
from nonstrict.program.contracts.regions import calls, torch_states
from nonstrict.program.contracts.regions.capturing import KeptResult, are_asked_for
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.domain.values import PRIMITIVES, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import StaticCall

#: How many functions hand on a result, at most.
_HOPS = 2
_MARK = "cudagraph_mark_step_begin"
_MARKS = frozenset({f"torch.compiler.{_MARK}", "torch._inductor.cudagraph_trees.mark_step_begin"})
_COLLECTED = "all results are kept here"
_RUNS, _USED = "a CUDA graph runs here", "used here"


class _Site(NamedTuple):
    """A call that gives a result of the region, in the text that a frame runs."""

    frame: Frame
    node: ast.AST

    @property
    def text(self) -> FunctionNode | ast.Module:
        return naming.text_of(self.frame)


def of_region(region: Interpreted) -> Iterator[KeptResult]:
    """The places where results of a region are kept too long, as far as the texts tell that call it."""
    if _gives_no_tensor(region):
        return
    found: dict[ast.AST, KeptResult] = {}
    runs = _Runs(region)
    for frame, node, _, _ in calls.of(region):
        if frame.function is None or frame.function.node not in region.machine.regions:
            for one in _of_site(runs, _Site(frame, node), _HOPS):
                found.setdefault(one.seen.effect.node, one)
    yield from found.values()


def _gives_no_tensor(region: Interpreted) -> bool:
    """Whether a region surely returns something else."""
    if region.mark.function is None:
        return False
    returns = region.summary.returns
    returned = [one.kind for one in returns.alternatives()] if returns is not None else []
    return bool(returned) and PRIMITIVES.issuperset(returned)


class _Runs:
    """The calls in texts that run a CUDA graph."""

    def __init__(self, region: Interpreted) -> None:
        self.region = region
        self._known: dict[ast.AST, frozenset[ast.AST]] = {}
        self.direct = frozenset(node for _, node, _, _ in self._own())
        self._nodes = frozenset(self._calling())

    def _calling(self) -> Iterator[ast.AST]:
        """The calls of regions that run one, and of functions that make them."""
        machine = self.region.machine
        level = self._own()
        for _ in range(_HOPS + 1):
            yield from (node for _, node, _, _ in level)
            outer = dict.fromkeys(frame.function for frame, _, _, _ in level if frame.function is not None)
            level = [one for each in outer for one in callers.calls_of_function(machine, each)]

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

    def of(self, text: FunctionNode | ast.Module) -> frozenset[ast.AST]:
        """Those in one text, outside of the functions that it defines."""
        if text not in self._known:
            self._known[text] = self._nodes.intersection(own_scope(text))
        return self._known[text]


def _of_site(runs: _Runs, site: _Site, hops: int) -> Iterator[KeptResult]:
    frame, text = site.frame, site.text
    if not isinstance(site.node, ast.expr):
        return
    names = naming.names_at(frame)
    own = runs.of(text)
    for one in holding.kept(text, site.node, Shares(partial(_views, frame), names, runs.direct)):
        if one.way in (Way.RETURNED, Way.YIELDED):
            yield from _handed(runs, site, one, hops)
        elif (beyond := _beyond(site, site.node, one, own)) is not None:
            told = _told(runs, site, one, beyond)
            if told is not None:
                yield told


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
        elif frame.function is None or frame.function.node not in runs.region.machine.regions:
            yield from _of_site(runs, outer, hops - 1)


def _collected(runs: _Runs, site: _Site, one: Kept, outer: _Site) -> Iterator[KeptResult]:
    """What a generator yields where all of it is put into one container: `list(predictions(batches))`."""
    around = parents_of(outer.text).parents.get(outer.node)
    named = naming.names_at(outer.frame)
    if isinstance(around, ast.Call) and named(around.func) in holding.CONTAINERS and outer.node in around.args:
        told = _told(runs, site, one, outliving.Outlived(site.node, site.node))
        if told is not None:
            span = span_of(outer.frame.module.path, outer.frame.offset, around)
            yield told._replace(evidence=(Related(span, _COLLECTED),))


def _beyond(site: _Site, node: ast.expr, one: Kept, own: frozenset[ast.AST]) -> outliving.Outlived | None:
    """The run in the same text that a result is kept beyond, and what reads it then."""
    text = site.text
    if one.way is Way.GIVEN:
        run = parents_of(text).parents[one.node]
        return outliving.Outlived(run, one.node) if run in own else None
    if one.way is Way.CONTAINER and not one.name:
        return outliving.Outlived(node, one.node)  # a comprehension goes on before anything reads what it made
    if one.way is Way.CONTAINER:
        return outliving.collected(text, one, node) or outliving.outlived(text, one, own, again=False)
    lives_on = one.way is Way.ATTRIBUTE or outliving.is_shared(text, one.name)
    return outliving.outlived(text, one, own, again=lives_on)


def _told(runs: _Runs, site: _Site, one: Kept, beyond: outliving.Outlived) -> KeptResult | None:
    region, frame = runs.region, site.frame
    surely = torch_states.are_gradients_off(frame, site.node) or not _may_need_gradients(region)
    if one.way is Way.GIVEN and not surely:
        return None  # until its backward pass has run torch leaves it alone
    marks = list(_marks(site))
    if not marks and region.machine.elsewhere.files_with(_MARK.encode()):
        return None  # where steps begin is said elsewhere, or once for all
    name = ".".join(step.lstrip(".") for step in one.name)
    path, offset = frame.module.path, frame.offset
    place = AccessPath(Root.UNKNOWN, "", name)
    node = one.node if one.way is not Way.VARIABLE else site.node
    effect = Effect(Event.KEPT, path, offset, node, place)
    span = partial(span_of, path, offset)
    evidence = [Related(span(beyond.run), _RUNS)] if beyond.run is not site.node else []
    evidence += [Related(span(beyond.read), _USED)] if beyond.read not in (one.node, site.node) else []
    return KeptResult(
        Observed(effect, (), in_hook=False), one.way, name, span(site.node), tuple(evidence), bool(marks), surely
    )


def _may_need_gradients(region: Interpreted) -> bool:
    """Whether a region computes with parameters: then results wait for their backward pass."""
    target = region.mark.target
    held = target.bound.receiver if target.bound is not None else target
    return held.kind is Kind.MODULE or any(True for _ in region.observed(Event.LAYER))


def _marks(site: _Site) -> Iterator[ast.AST]:
    """The calls that say where a step begins in the rounds of the loops around a call."""
    names = naming.names_at(site.frame)
    for loop in outliving.loops_around(site.text, site.node):
        yield from (one for one in walk(loop) if isinstance(one, ast.Call) and names(one.func) in _MARKS)
