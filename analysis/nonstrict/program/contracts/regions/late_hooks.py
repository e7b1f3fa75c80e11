"""Hooks that are registered on a module after the first call of a region that calls it: no later call runs them.

Measured on torch 2.13: Dynamo guards no hooks of the modules that a region calls, unless
`torch._dynamo.config.skip_nnmodule_hook_guards` is false. That holds for hooks of forward and of backward passes. A
table of hooks that is not empty when the region is compiled is guarded, so that one more is seen; so are the hooks of
the module that is compiled itself, which run outside of the region. What the region is compiled again for, it is
compiled for with the hooks that are there then. Only what surely is registered between two calls counts, both of
which surely run what was compiled for the first.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts import succession
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.boundary.varying import drops
from nonstrict.program.contracts.regions import called_modules, calls, options, unchanging
from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.domain.values import Kind
from nonstrict.program.externals.hooks import Members, Registrations
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import AbstractObject, Value
    from nonstrict.program.externals.hooks import Registration
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

_OPTION = "skip_nnmodule_hook_guards"


class LateHook(NamedTuple):
    """A registration that calls of a region do not see, of a module called `name`; a call before it is evidence."""

    seen: Observed
    name: str
    evidence: tuple[Related, ...]


class _Site(NamedTuple):
    """Where something runs, and within another function where that is called: `within` is then what runs there."""

    frame: Frame
    node: ast.AST
    within: tuple[Frame, ast.AST] | None = None

    @property
    def text(self) -> ast.AST:
        return naming.text_of(self.frame)


def may_be(machine: Machine) -> bool:
    """Whether a hook of a module is known."""
    return bool(machine.part(Registrations).known)


def of_region(region: Interpreted) -> Iterator[LateHook]:
    """The registrations on modules that a region calls between two calls of it, for each module that is compiled."""
    machine = region.machine
    if options.is_set(machine, _OPTION, region.mark.path):
        return
    seen = [one.effect for one in region.observed(Event.LAYER) if not one.in_hook and not _may_not_run(one)]
    for module in called_modules.compiled(region):
        yield from of_module(
            region, module, [one for effect in seen for one in called_modules.called(region, effect, module)]
        )


def of_module(region: Interpreted, compiled: Value | None, called: list[Value]) -> Iterator[LateHook]:
    """The same for some modules that are called each time that another one, or the function, is."""
    known = region.machine.part(Registrations)
    heaps = {id(one.heap): one.heap for one in called if one.heap is not None}
    inside = heaps.keys() | {id(one.heap) for one in (compiled, *region.arguments.values()) if one is not None}
    registered = [one for heap in heaps.values() for one in known.of(heap) if id(_holder(one)) in inside]
    if not registered or options.is_set(region.machine, _OPTION, region.mark.path):
        return
    made = list(_calls(region, compiled))
    found: dict[ast.AST, LateHook] = {}
    for one in registered:
        first = _first_call(region, one, made)
        if first is not None:
            found.setdefault(one.node, _late(region, one, first))
    yield from found.values()


def _may_not_run(seen: Observed) -> bool:
    return seen.effect.conditional or any(edge.conditional for edge in seen.chain)


def _holder(one: Registration) -> AbstractObject | None:
    """The outermost module by which a registration names the one that gets the hook: copies share what they hold."""
    part = one.node.func if isinstance(one.node, ast.Call) else None
    found: AbstractObject | None = None
    while isinstance(part, (ast.Attribute, ast.Subscript, ast.Call, ast.Name)):
        if naming.is_chain(part) and part is not getattr(one.node, "func", None):
            value = one.frame.machine.evaluate(one.frame, part)
            found = value.heap if value.kind is Kind.MODULE else found
        part = part.func if isinstance(part, ast.Call) else getattr(part, "value", None)
    return found.root.heap if isinstance(found, Members) else found


def _late(region: Interpreted, one: Registration, first: _Site) -> LateHook:
    frame, node = one.frame, one.node
    name = ast.unparse(node.func.value) if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    place = AccessPath(Root.UNKNOWN, "", name)
    effect = Effect(Event.GUARD, frame.module.path, frame.offset, node, place, how=Use.BRANCH)
    span = span_of(first.frame.module.path, first.frame.offset, first.node)
    return LateHook(Observed(effect, (), in_hook=False), name, (Related(span, "compiled without the hook here"),))


def _calls(region: Interpreted, compiled: Value | None) -> Iterator[_Site]:
    """The calls of a region, and those of functions that surely make them and change nothing."""
    own = compiled.heap if compiled is not None else None
    for frame, node, _, _ in calls.of(region):
        if not isinstance(node, ast.Call) or not _is_of(frame, node, own):
            continue
        yield _Site(frame, node)
        function = frame.function
        if function is None or not succession.surely_runs(function.node, node):
            continue
        for outer, call, _, _ in callers.calls_of_function(region.machine, function):
            if isinstance(call, ast.Call):
                yield _Site(outer, call, (frame, node))


def _is_of(frame: Frame, call: ast.Call, own: AbstractObject | None) -> bool:
    """Whether a call is of the module that is compiled, where it is one; of a bound method it is not told."""
    held = frame.machine.evaluate(frame, call.func).heap
    return own is None or held is None or held is own


def _first_call(region: Interpreted, one: Registration, made: list[_Site]) -> _Site | None:
    """A call before a registration of whose graph a later call surely makes use; None if there is none."""
    registrations = region.machine.part(Registrations)
    others = [other.node for other in registrations.of(one.module) if other.table == one.table]
    for site in _sites(one):
        here = [call for call in made if call.text is site.text]
        apart = {site.node, *(call.node for call in here), *registrations.nodes}
        pairs = ((first, last) for first in here for last in here if _is_alike(first, last))
        for first, last in pairs:
            if _are_around(region, site, first, last, apart) and not _is_in_table(site, first, one, others):
                return first
    return None


def _sites(one: Registration) -> list[_Site]:
    """Where a registration runs: where it stands, or where the function is called, once, that holds it."""
    function = one.frame.function
    found = [_Site(one.frame, one.node)]
    if function is not None:
        outer = callers.calls_of_function(one.frame.machine, function)
        if len({node for _, node, _, _ in outer}) == 1:
            found += [_Site(frame, node, (one.frame, one.node)) for frame, node, _, _ in outer[:1]]
    return found


def _are_around(region: Interpreted, site: _Site, first: _Site, last: _Site, apart: set[ast.AST]) -> bool:
    """Whether two calls lie around a registration, with nothing that may have the region compiled again."""
    root, call = site.text, first.node
    nodes = succession.between(root, call, site.node, last.node)
    if nodes is None or not isinstance(call, ast.Call) or drops(site.frame):
        return False
    if succession.entered(root, call, site.node) != succession.entered(root, last.node, site.node):
        return False
    inside = (one.within for one in (site, first) if one.within is not None)
    return unchanging.leaves_alone(region, site.frame, nodes, call, apart) and all(
        unchanging.is_harmless(frame, walk(naming.text_of(frame)), {node}) for frame, node in inside
    )


def _is_in_table(site: _Site, first: _Site, one: Registration, others: list[ast.AST]) -> bool:
    """Whether the table may hold a hook when the region is compiled: another one may go into it before."""
    return any(node is not one.node and not succession.stands_behind(site.text, first.node, node) for node in others)


def _is_alike(first: _Site, last: _Site) -> bool:
    within = [one.within[1] if one.within is not None else None for one in (first, last)]
    return within[0] is within[1] and ast.unparse(first.node) == ast.unparse(last.node)
