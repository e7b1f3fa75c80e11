"""Regions that are modules of torch, `torch.compile(nn.Sequential(...))`: no function of the program tells of them.

Measured on torch 2.13: Dynamo guards the tensors that they are given, and the mode of each layer that reads it, as it
does for a function that computes with them. `module.compile()` of such a module compiles nothing.
"""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.targets import bound_from, last_name
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.regions import (
    calls,
    cuda_graphs,
    late_hooks,
    layers,
    recompilations,
    requested,
    switched_off,
)
from nonstrict.program.contracts.regions.capturing import NO_CUDA_GRAPHS
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.discovery import roots
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals import functional_calls, held_modules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from nonstrict.program.contracts.regions.capturing import CudaGraphs
    from nonstrict.program.contracts.regions.late_hooks import LateHook
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.program.domain.definitions import CompileSite
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine


def bodies(machine: Machine, paths: Collection[str]) -> Iterator[MarkedBody]:
    """The regions in some files that are modules of torch, once all is evaluated that may call them."""
    for site, target in list(machine.part(Compilations).given_here()):
        if site.path in paths and not site.in_place and not site.compiled and layers.is_of_torch(target):
            module = machine.project.module(site.path)
            if module is not None:
                roots.find_calls(machine, module, _names(module, site.offset, site.node))
            yield TorchModule(machine, site, target)


class TorchModule(MarkedBody):
    """One such region, as rules see it: of what it does, they are told what its calls make Dynamo guard."""

    def __init__(self, machine: Machine, site: CompileSite, target: Value) -> None:
        mark = Mark("compiled", "torch.compile", target, site.path, site.offset, site.node, None)
        super().__init__(machine, mark, machine.torch)
        self.function = target.dotted.rpartition(".")[2]
        self.fullgraph = site.options.fullgraph is True
        self.dynamic = site.options.dynamic if isinstance(site.options.dynamic, bool) else None
        self.backend = site.options.backend_name
        self.has_cuda_graphs = requested.are_asked_for(machine, site.path, site.options)
        self.recompile_limit, self.isolates = site.options.most, site.options.isolates

    def observed(self, *events: Event) -> Iterator[Observed]:
        """The tensors that its calls pass, and the mode that a layer reads."""
        if Event.GUARD in events:
            yield from self._passed
        if Event.MODE in events and functional_calls.mode_dependent(self.mark.target):
            mark = self.mark
            effect = Effect(Event.MODE, mark.path, mark.offset, mark.node, mark.target.place, mark.target)
            yield Observed(effect, (), in_hook=False)

    def held_at(self, place: AccessPath) -> Value | None:
        """The module itself is all that has a place."""
        return self.mark.target

    @property
    def recompilations(self) -> tuple[Recompilation, ...]:
        """What the region is compiled anew for, told where it is called."""
        if switched_off.may_stop_compiling(self.machine, self.mark.path):
            return ()
        found = recompilations.of_region(self, ())
        return tuple(
            one._replace(evidence=tuple(other for other in one.evidence if other.span != one.seen.effect.span))
            for one in found
        )

    @property
    def cuda_graphs(self) -> CudaGraphs:
        """What CUDA graphs are recorded for, and which results they overwrite."""
        return self._cuda_graphs

    @cached_property
    def _cuda_graphs(self) -> CudaGraphs:
        return cuda_graphs.of_region(self) if self.has_cuda_graphs else NO_CUDA_GRAPHS

    @property
    def late_hooks(self) -> tuple[LateHook, ...]:
        """The hooks on the module and its layers which come too late for it."""
        if not late_hooks.may_be(self.machine) or self.recompilations:
            return ()
        module = self.mark.target
        return tuple(late_hooks.of_module(self, module, [module, *held_modules.called(module)]))

    @cached_property
    def _passed(self) -> tuple[Observed, ...]:
        """The arguments that may be tensors, each where the last call passes it."""
        found: dict[str, Observed] = {}
        for frame, node, positional, keywords in calls.of(self):
            named = {calls.argument(at): value for at, value in enumerate(positional)} | keywords
            for name, value in named.items():
                if value.is_tensor or value.kind is Kind.UNKNOWN:
                    place = AccessPath(Root.ARGUMENT, "", name)
                    path, offset = frame.module.path, frame.offset
                    effect = Effect(Event.GUARD, path, offset, node, place, value, how=Use.ARITHMETIC)
                    effect = effect._replace(passed=calls.written(node, name))
                    found[name] = Observed(effect, (), in_hook=False)
        return tuple(found.values())


def _names(module: Module, offset: int, application: ast.AST) -> set[str]:
    """The names and attributes that hold what an application returned, and the definition around it."""
    parts = (
        module.outline.shell,
        *map(module.outline.node, (chunk for chunk in module.outline.chunks if chunk.offset == offset)),
    )
    around = next((part for part in parts if part is not None and _stands_in(part, application)), None)
    if around is None:
        return set()
    assigned = (node for node in walk(around) if isinstance(node, (ast.Assign, ast.AnnAssign)))
    found = {last_name(target) for node in assigned if _stands_in(node, application) for target in _targets(node)}
    defined = {around.name} if isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else set[str]()
    return (found | bound_from(around, found) | defined) - {""}


def _stands_in(part: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in walk(part))


def _targets(node: ast.Assign | ast.AnnAssign) -> list[ast.expr]:
    return node.targets if isinstance(node, ast.Assign) else [node.target]
