"""Which attributes a flatten function hands out, in which order, and where the function that rebuilds puts them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.boundary.contexts import parameter
from nonstrict.program.domain.values import Kind
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.boundary.pytrees import Registration
    from nonstrict.program.state.machine import Machine


def moved(registration: Registration) -> dict[str, str]:
    """The attributes that hold what others held, once an object was taken apart and rebuilt.

    Measured on torch 2.13.0: that happens twice on the way into a marked function, so that two attributes that change
    places are right again, and three are not.
    """
    functions = [
        one.function.node for one in (registration.flatten, registration.unflatten) if one.function is not None
    ]
    if len(functions) != 2:
        return {}
    children = _children(functions[0])
    if not children or not _spreads(functions[1], registration.cls.name):
        return {}
    source: dict[str, str] = {}
    for name in children:
        taken, of = parameter(registration.cls, name)
        if of not in taken or taken.index(of) >= len(children):
            return {}
        source[name] = children[taken.index(of)]
    return {name: source[source[name]] for name in children if source[source[name]] != name}


def _results(function: FunctionNode) -> list[ast.expr]:
    if isinstance(function, ast.Lambda):
        return [function.body]
    return [node.value for node in walk(function) if isinstance(node, ast.Return) and node.value is not None]


def _children(function: FunctionNode) -> list[str]:
    """The attributes that a flatten function returns as children; none if they are not simply listed."""
    parameters = [*function.args.posonlyargs, *function.args.args]
    results = _results(function)
    end = results[0] if len(results) == 1 else None
    given = end.elts[0] if isinstance(end, ast.Tuple) and len(end.elts) == 2 else None
    if not parameters or not isinstance(given, (ast.Tuple, ast.List)):
        return []
    names = [
        part.attr
        for part in given.elts
        if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id == parameters[0].arg
    ]
    return names if len(names) == len(given.elts) == len(set(names)) else []


def _spreads(function: FunctionNode, name: str) -> bool:
    """Whether a function does nothing but call a class with the children as they come."""
    results = _results(function)
    call = results[0] if len(results) == 1 else None
    parameters = [*function.args.posonlyargs, *function.args.args]
    if (
        not isinstance(call, ast.Call)
        or last_name(call) != name
        or call.keywords
        or len(call.args) != 1
        or not parameters
    ):
        return False
    only = isinstance(function, ast.Lambda) or len(function.body) == 1
    spread = call.args[0]
    return only and isinstance(spread, ast.Starred) and getattr(spread.value, "id", None) == parameters[0].arg


def listed(machine: Machine, registration: Registration) -> frozenset[str] | None:
    """The names that a flatten function looks up (`getattr(o, name) for name in NAMES`); None if they are not known."""
    function = registration.flatten.function
    if function is None:
        return None
    parameters = [*function.node.args.posonlyargs, *function.node.args.args]
    if not parameters:
        return None
    loops = [node for node in walk(function.node) if isinstance(node, ast.comprehension)]
    uses = [node for node in walk(function.node) if isinstance(node, ast.Name) and node.id == parameters[0].arg]
    looked_up = [node for node in walk(function.node) if isinstance(node, ast.Call) and last_name(node) == "getattr"]
    if len(loops) != 1 or len(looked_up) != 1 or len(looked_up[0].args) != 2 or loops[0].ifs:
        return None
    owner, name = looked_up[0].args
    plain = isinstance(loops[0].target, ast.Name) and getattr(name, "id", None) == loops[0].target.id
    if not plain or uses != [owner] or not isinstance(loops[0].iter, ast.Name):
        return None
    frame = closure_of(function) or machine.module_frame(function.module)
    names = machine.evaluate(frame, loops[0].iter)
    if names.kind not in (Kind.TUPLE, Kind.LIST) or names.heap is None or names.heap.loose is not None:
        return None
    found = frozenset(one.const for one in names.heap.items.values() if isinstance(one.const, str))
    return found if found and len(found) == len(names.heap.items) else None
