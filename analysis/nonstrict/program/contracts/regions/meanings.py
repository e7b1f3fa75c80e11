"""Which method of a container, or function, is called: one of the program's is none, whatever its name is.

A method of the program that adds what it is given to a list of its object is one that appends; one that empties
something of its object, or binds it anew, is one that clears it.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts import succession
from nonstrict.facts.holding import Meaning, spelled
from nonstrict.facts.memo import remembered
from nonstrict.facts.outliving import DRAIN, EMPTYING
from nonstrict.facts.scopes import receiver_of, scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.regions import reading
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.facts.texts import Root
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

_APPEND, _CLEAR = "append", "clear"


def at(frame: Frame) -> Meaning:
    """What the text that a frame runs calls."""

    def means(called: ast.expr) -> str:
        return _means(frame.machine.evaluate(frame, called), called)

    return means


def inside(frame: Frame, text: Root) -> Meaning:
    """The same of what another text of the module calls that a frame is of."""
    value = partial(reading.value, frame.machine, frame.module, text)

    def means(called: ast.expr) -> str:
        return _means(value(called), called)

    return means


def _means(callee: Value, called: ast.expr) -> str:
    found = {_of_function(one) for one in callee.alternatives()}
    name = found.pop() if len(found) == 1 else None
    return spelled(called) if name is None else name


def _of_function(callee: Value) -> str | None:
    """What a function of the program is; None of what is none."""
    function = callee.bound.function if callee.bound is not None else callee.function
    if not isinstance(function, Function):
        return None
    return _of_method(function.node, callee.bound.receiver) if callee.bound is not None else ""


def _of_method(node: FunctionNode, held: Value) -> str:
    emptying = remembered(node, "_nonstrict_empties", _empties)
    if emptying:
        return emptying
    name = remembered(node, "_nonstrict_appends", _appends)
    kept = held.heap.attributes.get(name) if held.heap is not None else None
    return _APPEND if kept is not None and kept.kind is Kind.LIST else ""


def _empties(method: FunctionNode) -> str:
    """What it is to take something out of what an attribute of an object holds, or bind that anew; "" of no such."""
    own, text = receiver_of(method), [*own_scope(method)]
    members = (one for one in text if isinstance(one, ast.Attribute) and steps_of(one)[:1] == (own,))
    if not any(isinstance(one.ctx, ast.Store) or one.attr in EMPTYING for one in members):
        return ""
    gives = any(isinstance(one, (ast.Return, ast.Yield)) and one.value is not None for one in text)
    return DRAIN if gives or isinstance(method, ast.Lambda) else _CLEAR


def _appends(method: FunctionNode) -> str:
    """The attribute to whose value a method surely adds its one parameter; "" if it does not do that alone."""
    own, parameters = receiver_of(method), [*scope_of(method).parameters]
    for node in own_scope(method):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or node.func.attr != _APPEND:
            continue
        steps, given = steps_of(node.func.value), [getattr(one, "id", "") for one in node.args]
        is_own = len(steps) == len(parameters) == 2 and steps[0] == own and [own, *given] == parameters
        if is_own and succession.surely_runs(method, node):
            return steps[1].removeprefix(".")
    return ""
