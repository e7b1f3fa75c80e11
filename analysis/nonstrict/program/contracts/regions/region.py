"""A function that `torch.compile` is applied to, as rules see it: everything that Dynamo traces of it."""

from __future__ import annotations

import ast
from functools import cached_property, partial
from typing import TYPE_CHECKING

from nonstrict.events import Construct
from nonstrict.facts import resuming
from nonstrict.facts.scopes import receiver_of
from nonstrict.knowledge.graph_breaks import GraphBreak, falls_back, graph_break
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.marks import handlers, purity
from nonstrict.program.contracts.regions import (
    abandoned,
    contexts,
    cuda_graphs,
    dropped_guards,
    flags,
    late_hooks,
    recompilations,
    requested,
    specialized,
    stale,
    strictness,
    switched_off,
)
from nonstrict.program.contracts.regions.capturing import NO_CUDA_GRAPHS
from nonstrict.program.contracts.regions.graphs import Graphs, counted
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.definitions import DEFAULT_BACKEND, Mark
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals import hooks
from nonstrict.program.mutations import evidence

if TYPE_CHECKING:
    from nonstrict.events import Event
    from nonstrict.findings import Related
    from nonstrict.program.contracts.regions.capturing import CudaGraphs
    from nonstrict.program.contracts.regions.dropped_guards import DroppedGuard
    from nonstrict.program.contracts.regions.late_hooks import LateHook
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.contracts.regions.stale import StaleValue
    from nonstrict.program.domain.definitions import Class, Function, Region
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine


#: What places call the object of a bound method.
_RECEIVER = "self"
#: The statements after whose breaks Dynamo does not resume a function.
_IN_THE_WAY: dict[type[ast.stmt], str] = {
    ast.For: "a loop",
    ast.AsyncFor: "a loop",
    ast.While: "a loop",
    ast.Try: "a `try`",
    ast.With: "a `with`",
    ast.AsyncWith: "a `with`",
}


class CompiledRegion(MarkedBody):
    """One compiled region, interpreted on demand. Implements `nonstrict.rules.base.Body` with the marker `compiled`."""

    def __init__(self, machine: Machine, region: Region, torch: tuple[int, int]) -> None:
        place = (region.path, region.offset, region.node)
        mark = Mark("compiled", "torch.compile", region.target, *place, region.function)
        super().__init__(machine, mark, torch)
        self.fullgraph = region.fullgraph
        #: whether sizes and numbers are dynamic from the start; None where that is left to Dynamo, or is not known
        self.dynamic = region.options.dynamic if isinstance(region.options.dynamic, bool) else None
        self.recompile_limit, self.isolates = region.options.most, region.options.isolates
        self.has_cuda_graphs = requested.are_asked_for(machine, region.path, region.options)
        self.backend = region.backend
        #: why the region cannot be read
        self.failed: Exception | None = None

    def seen_by_others(self, *events: Event) -> list[Observed]:
        """The effects of the given kinds, for those that look at something else: none if the region cannot be read.

        An exception costs the region, not the functions that it calls.
        """
        if self.failed is None:
            try:
                return list(self.observed(*events))
            except Exception as error:  # noqa: BLE001 - the boundary of one region; reported by whoever runs the rules
                self.failed = error
        return []

    def supposed(self, observed: Observed) -> MarkedBody | None:
        """The helper in which something happens, as if it were marked; None for the region's own function."""
        helper = observed.chain[-1].summary.definition if observed.chain else None
        return purity.supposed(self.machine, helper, self.torch) if helper is not None else None

    def refusal(self, observed: Observed) -> str:
        """The option by which a break of the graph is an error; "" where the graph may break."""
        if self.fullgraph:
            return "fullgraph=True"
        refused = strictness.refuses(self.machine, self.mark.function, observed)
        return "error_on_graph_break(True)" if refused else ""

    def given_up(self, observed: Observed) -> str:
        """What keeps Dynamo from resuming the region after a break: a statement around it, or the construct itself."""
        function = self.mark.function
        if function is None or observed.in_hook:
            return ""
        node = observed.chain[0].node if observed.chain else observed.effect.node
        if around := self.in_the_way(function, node):
            return around
        return "itself" if not observed.chain and falls_back(observed.effect.what, self.torch) else ""

    def in_the_way(self, function: Function, node: ast.AST) -> str:
        """The statement that keeps Dynamo from resuming a function after a break at a node in it; "" if none does."""
        is_restored = partial(contexts.may_be_restored, self.machine, function)
        statement = resuming.giving_up(function.node, node, is_restored)
        return "" if statement is None else _IN_THE_WAY[type(statement)]

    def graph_break(self, observed: Observed) -> GraphBreak | None:
        """What torch says of a construct that breaks the graph of the region; None where it does not."""
        if observed.effect.how is Construct.NATIVE or observed.in_hook:
            return None
        return graph_break(observed.effect.what, self.torch, whole=self.fullgraph)

    @property
    def graphs(self) -> Graphs:
        """How many graphs the region is compiled to, as far as its breaks are known."""
        return self._graphs

    @cached_property
    def _graphs(self) -> Graphs:
        return counted(self)

    def hidden_behind(self, observed: Observed) -> int:
        """The line of the break for which Dynamo gives up a function before it comes to another in it; 0 for none."""
        function = self.mark.function
        if function is None or self.fullgraph:
            return 0
        return abandoned.line_before(self._abandoned, function, observed)

    @cached_property
    def _abandoned(self) -> dict[ast.AST, abandoned.Abandoned]:
        function = self.mark.function
        return abandoned.first(self, function) if function is not None else {}

    @property
    def recompilations(self) -> tuple[Recompilation, ...]:
        """What the region is compiled anew for, as far as its calls and who writes what it reads tell."""
        return self._recompilations

    @cached_property
    def _recompilations(self) -> tuple[Recompilation, ...]:
        if not self.graphs.most or dropped_guards.may_drop(self):
            return ()  # nothing is compiled, or it is not known for what it is again
        if switched_off.may_stop_compiling(self.machine, self.mark.path):
            return ()
        found = recompilations.of_region(self, {one.place for one in self.stale_values})
        return tuple(one for one in found if not dropped_guards.is_among(self._dropped_guards, one))

    @property
    def stale_values(self) -> tuple[StaleValue, ...]:
        """The numbers whose second value stays in the compiled region."""
        return self._stale_values

    @cached_property
    def _stale_values(self) -> tuple[StaleValue, ...]:
        kept = self.backend == DEFAULT_BACKEND and self.graphs.most == 1 and not dropped_guards.may_drop(self)
        but = {one.place for one in self._dropped_guards}
        return tuple(one for one in stale.of_region(self) if one.place not in but) if kept else ()

    @property
    def dropped_guards(self) -> tuple[DroppedGuard, ...]:
        """What the region uses without a guard that the program dropped, and that is not the same in all calls."""
        return tuple(one for one in self._dropped_guards if one.sure)

    @cached_property
    def _dropped_guards(self) -> tuple[DroppedGuard, ...]:
        return tuple(dropped_guards.of_region(self, self.backend)) if self.graphs.most else ()

    @property
    def late_hooks(self) -> tuple[LateHook, ...]:
        """The hooks on modules that the region calls which come too late for it."""
        is_known = self.graphs.most == 1 and not dropped_guards.may_drop(self)
        if not is_known or self._dropped_guards or not late_hooks.may_be(self.machine) or self.recompilations:
            return ()
        return tuple(late_hooks.of_region(self))

    @property
    def cuda_graphs(self) -> CudaGraphs:
        """What keeps CUDA graphs away from the region, what they are recorded for, and which results they overwrite."""
        return self._cuda_graphs

    @cached_property
    def _cuda_graphs(self) -> CudaGraphs:
        return cuda_graphs.of_region(self) if self.has_cuda_graphs and self.graphs.most else NO_CUDA_GRAPHS

    def contradicted(self, seen: Observed) -> tuple[Related, ...]:
        """The calls of `mark_dynamic` that a use of a size contradicts, where torch comes to compile it."""
        is_traced = self.graphs.most and not self.falls_back and not self.hidden_behind(seen)
        return specialized.against(self, seen) if is_traced else ()

    def held_at(self, place: AccessPath) -> Value | None:
        """What the root of a place holds; None where that is not known."""
        if place.root is Root.GLOBAL:
            module = self.machine.project.module(place.file)
            return self.machine.global_value(module, place.name) if module is not None else None
        if place.root is Root.CELL:
            return self._held_at(place)
        return self.arguments.get(place.name) or self.arguments.get(self.parameter_at(place))

    def parameter_at(self, place: AccessPath) -> str:
        """The parameter at which a place begins: that of the object of a bound method may have any name."""
        function = self.mark.function
        bound = self.mark.target.kind is not Kind.FUNCTION and place.name == _RECEIVER
        return receiver_of(function.node) if function is not None and bound else place.name

    def owners_at(self, place: AccessPath) -> list[Class | None]:
        """The classes of the program, as far as known, whose attributes the steps of a place are."""
        return evidence.owners_at(self.machine, self.held_at(place), place)

    @property
    def falls_back(self) -> bool:
        """Whether all calls of the region that were seen go on with something else where torch refuses it."""
        return self._falls_back

    @cached_property
    def _falls_back(self) -> bool:
        return handlers.falls_back(self.machine, self.mark)

    def _introduction(self) -> str:
        how = " with `fullgraph=True`" if self.fullgraph else ""
        return f"`{self.function}` is compiled{how} here"

    def _receiver_in_body(self) -> Value | None:
        """The module or object whose method is compiled: an input of the region."""
        target = self.mark.target
        bound = target.bound.receiver if target.bound is not None else target
        if bound.kind not in (Kind.MODULE, Kind.OBJECT):
            return bound if target.kind is Kind.BOUND and bound.kind is Kind.CLASS else None
        return bound.at(AccessPath(Root.ARGUMENT, "", _RECEIVER))

    def _run_around(self, frame: Frame, function: Function) -> None:
        """The hooks of a compiled module; one whose method is compiled is not called, so that they do not run."""
        if self.mark.target.kind is Kind.MODULE:
            hooks.run_around(frame, function.node, self.mark.target)

    def _is_inherited(self) -> bool:
        """Whether a method is compiled for every object of its class: by a decorator, or by the class for itself."""
        target = self.mark.target
        held = target.bound.receiver if target.bound is not None else target
        of_itself = held.kind in (Kind.MODULE, Kind.OBJECT) and held.place.root in (Root.ARGUMENT, Root.UNKNOWN)
        return self.fullgraph and (target.kind is Kind.FUNCTION or of_itself)

    def _seen(self, function: Function) -> dict[str, Value]:
        return callers.passed_to(self.machine, function)

    def _known_arguments(self, function: Function) -> dict[str, Value]:
        return flags.passed(self.machine, function) | super()._known_arguments(function)


class CompiledRegions(Regions):
    """The regions that were looked at."""

    def __init__(self) -> None:
        self._known: dict[Region, CompiledRegion] = {}

    def of(self, machine: Machine, region: Region, torch: tuple[int, int]) -> CompiledRegion:
        """What Dynamo traces of a compiled function; interpreted once."""
        if region not in self._known:
            self._known[region] = CompiledRegion(machine, region, torch)
        return self._known[region]

    def seen(self) -> list[CompiledRegion]:
        """The regions that somebody asked about."""
        return list(self._known.values())

    def failed(self) -> list[CompiledRegion]:
        """The regions that could not be read when others asked about them."""
        return [region for region in self._known.values() if region.failed is not None]
