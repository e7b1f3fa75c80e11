"""Code between two calls of a region that surely does not have it compiled again: what is not known to, may."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import rebinds, tensor_method, torch_function
from nonstrict.knowledge.standard_library import EVER
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.values import CONTAINERS, PRIMITIVES, TENSORS, Flag, Kind
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame

#: How many functions are looked into, one called by another, at most.
_HOPS = 2
#: Builtins that change objects, or do whatever text says.
_CHANGING = frozenset({"builtins.setattr", "builtins.delattr", "builtins.exec", "builtins.eval"})
#: Methods that leave modules and optimizers as regions see them: an optimizer changes the data of parameters.
_OF_MODULES = frozenset(
    {
        *("children", "modules", "named_children", "named_modules", "get_submodule", "parameters", "named_parameters"),
        *("state_dict", "zero_grad", "step", "backward"),
    }
)
_PLAIN = PRIMITIVES | CONTAINERS | {Kind.TUPLE, Kind.ITERATOR}


def leaves_alone(
    region: Interpreted, frame: Frame, nodes: Collection[ast.AST], call: ast.Call, known: Collection[ast.AST]
) -> bool:
    """Whether what stands between two calls of a region, written alike, leaves it and what they pass as they are.

    `known` are calls that do.
    """
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and not isinstance(one.ctx, ast.Load)}
    state = {
        seen.effect.place.name
        for seen in region.observed(Event.GUARD, Event.READ)
        if seen.effect.place.root in (Root.GLOBAL, Root.CELL)
    }
    passed = [*walk(call)]
    used = {one.id for one in passed if isinstance(one, ast.Name)}
    if not stored.isdisjoint(state | used) or not all(_is_same(frame, one) for one in passed if one is not call):
        return False
    return is_harmless(frame, nodes, known)


def is_harmless(frame: Frame, nodes: Iterable[ast.AST], known: Collection[ast.AST], hops: int = _HOPS) -> bool:
    """Whether some code changes nothing of what regions are compiled for, beside what some calls in it do."""
    nodes = list(nodes)
    kept = {target for one in nodes if isinstance(one, ast.Assign) and one.value in known for target in one.targets}
    blocks = (one for one in nodes if isinstance(one, (ast.With, ast.AsyncWith)))
    known = {*known, *(item.context_expr for block in blocks for item in block.items if _is_of_torch(frame, item))}
    return all(
        _is_harmless_call(frame, one, hops) if isinstance(one, ast.Call) else one in kept or not _stores(one)
        for one in nodes
        if one not in known
    )


def _is_of_torch(frame: Frame, item: ast.withitem) -> bool:
    """Whether what is entered is a state of torch, which is left again."""
    entered = item.context_expr
    return isinstance(entered, ast.Call) and naming.names_at(frame)(entered.func).startswith("torch.")


def _stores(node: ast.AST) -> bool:
    """Whether a node puts something into an object, or at what a name outside of the function leads to."""
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        return not isinstance(node.ctx, ast.Load)
    return isinstance(node, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.Await, ast.Yield, ast.YieldFrom))


def _is_harmless_call(frame: Frame, call: ast.Call, hops: int) -> bool:
    name = naming.names_at(frame)(call.func)
    if name:
        package = name.partition(".")[0]
        known = package in EVER or package == "builtins" or torch_function(name) is not None
        return known and name not in _CHANGING
    if isinstance(call.func, ast.Attribute) and not naming.is_chain(call.func):
        return _is_harmless_method(call.func.attr)
    value = frame.machine.evaluate(frame, call.func)
    if value.kind is Kind.MODULE and not value.flags & Flag.COMPILED:
        return True
    function = value.bound.function if value.bound is not None else value.function
    if isinstance(function, Function):
        inside = frame.machine.static_frame(function)
        return hops > 0 and is_harmless(inside, walk(function.node), (), hops - 1)
    if not isinstance(call.func, ast.Attribute):
        return False
    held, method = frame.machine.evaluate(frame, call.func.value), call.func.attr
    return held.kind in _PLAIN or method in _OF_MODULES or (held.kind in TENSORS and _is_harmless_method(method))


def _is_harmless_method(name: str) -> bool:
    """Whether a method of a tensor leaves it what it is."""
    method = tensor_method(name)
    return name == "backward" or (method is not None and not method.mutates and not rebinds(name))


def _is_same(frame: Frame, node: ast.AST) -> bool:
    """Whether an expression in a call gives something of the same kind each time, as far as what it names does."""
    if isinstance(node, ast.Call):
        name = naming.names_at(frame)(node.func)
        if name or not isinstance(node.func, ast.Attribute):
            return torch_function(name) is not None
        return _is_harmless_method(node.func.attr) and node.func.attr not in ("nonzero", "item", "tolist")
    return not isinstance(node, (ast.Await, ast.Yield, ast.Lambda, ast.NamedExpr))
