"""Functions that a region chooses from a dict by a key: Dynamo traces the chosen one and never sees the others."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.contracts.boundary.varying import given_expressions
from nonstrict.program.contracts.regions.unbacked import bound_once
from nonstrict.program.discovery import callers
from nonstrict.program.domain.values import NO_CONSTANT, Kind
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame


_HOLDERS = frozenset({Kind.DICT, Kind.LIST, Kind.TUPLE, Kind.MODULE})


def key(frame: Frame, expression: ast.expr) -> object:
    """The constant that all seen callers of a region pass as a key, or leave to be the default; else `NO_CONSTANT`."""
    function = frame.function
    if frame.caller is not None or function is None or not isinstance(expression, ast.Name):
        return NO_CONSTANT
    if _is_stored(function.node, expression.id):
        return NO_CONSTANT
    found = list(_passed(frame, function, expression.id))
    constant = found[0] if found else NO_CONSTANT
    return constant if all(other == constant for other in found) else NO_CONSTANT


def met(alternatives: Sequence[Value]) -> Sequence[Value]:
    """The functions that a region meets of those that it may call.

    Beside a marked function stands what a missing marker would leave. Beside one that is disabled stands what the
    program has where it compiles: a switch that disables functions disables regions too.
    """
    marked = [value for value in alternatives if value.kind is Kind.MARKED]
    enabled = [value for value in alternatives if value.function is None or "disabled" not in value.function.traits]
    return marked or enabled or alternatives


def is_choice(frame: Frame, node: ast.AST) -> bool:
    """Whether what is called is one entry of a dict or list, and which one is open."""
    callee = node.func if isinstance(node, ast.Call) else None
    if isinstance(callee, ast.Name) and frame.function is not None:
        callee = bound_once(frame, callee.id)
    if isinstance(callee, ast.Call) and isinstance(callee.func, ast.Attribute) and callee.func.attr == "get":
        holder, chosen = callee.func.value, callee.args[0] if callee.args else None
    elif isinstance(callee, ast.Subscript):
        holder, chosen = callee.value, callee.slice
    else:
        return False
    if chosen is None or _in_turn(frame, chosen):
        return False
    return frame.machine.evaluate(frame, holder).kind in _HOLDERS


def _in_turn(frame: Frame, chosen: ast.expr) -> bool:
    """Whether a key is a loop's variable, so that one entry is called after the other."""
    around = frame.function.node if frame.function is not None else None
    targets = (loop.target for loop in own_scope(around) if isinstance(loop, ast.For)) if around is not None else ()
    names = {part.id for target in targets for part in walk(target) if isinstance(part, ast.Name)}
    return any(isinstance(part, ast.Name) and part.id in names for part in walk(chosen))


def _is_stored(around: ast.AST, name: str) -> bool:
    names = (node for node in walk(around) if isinstance(node, ast.Name) and node.id == name)
    return any(not isinstance(node.ctx, ast.Load) for node in names)


def _passed(frame: Frame, function: Function, name: str) -> Iterator[object]:
    """What each seen call gives a parameter, the constant itself where it is one."""
    given = {call: expression for _, call, expression in given_expressions(frame.machine, function, name)}
    default = default_nodes(function.node.args).get(name)
    for _, call, _, _ in callers.seen_calls(frame.machine, function):
        expression = given.get(call, default) if isinstance(call, ast.Call) else None
        spread = isinstance(call, ast.Call) and call not in given and _spreads(call)
        yield expression.value if isinstance(expression, ast.Constant) and not spread else NO_CONSTANT


def _spreads(call: ast.Call) -> bool:
    """Whether arguments are passed by `*` or `**`."""
    starred = any(isinstance(argument, ast.Starred) for argument in call.args)
    return starred or any(keyword.arg is None for keyword in call.keywords)
