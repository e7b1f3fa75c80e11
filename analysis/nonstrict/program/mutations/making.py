"""Objects that a function is making: what it assigns before it does anything with them is part of that."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_LOOPS = (ast.For, ast.AsyncFor, ast.While)


def is_made_there(machine: Machine, module: Module, around: ast.AST, write: ast.AST, holder: ast.expr) -> bool:
    """Whether a function makes an object itself, and neither hands it on nor calls it before it assigns something."""
    function = _function_around(around, write)
    if function is None or not isinstance(holder, ast.Name):
        return False
    made = use_def(function).value(holder.id)
    if made is None or not _constructs(machine, module, made):
        return False
    first, last = made.lineno, getattr(write, "lineno", 0)
    if any(one.lineno <= last <= (one.end_lineno or 0) and first < one.lineno for one in _loops(function)):
        return False
    if any(first < one.lineno < last for one in _handed_on(function, holder.id)):
        return False
    local = scope_of(function).assigned
    between = (one for one in walk(function) if isinstance(one, ast.Call) and first < one.lineno < last)
    return not any(_uses(call, holder.id, local) for call in between)


def _handed_on(function: ast.FunctionDef, name: str) -> Iterator[ast.Name]:
    """Where a variable is read as a whole: not an attribute or entry of what it holds."""
    asked = {id(node.value) for node in walk(function) if isinstance(node, (ast.Attribute, ast.Subscript))}
    names = (node for node in walk(function) if isinstance(node, ast.Name) and node.id == name)
    return (node for node in names if isinstance(node.ctx, ast.Load) and id(node) not in asked)


def _function_around(around: ast.AST, node: ast.AST) -> ast.FunctionDef | None:
    """The innermost function that holds a node."""
    holding = (
        one for one in walk(around) if isinstance(one, ast.FunctionDef) and any(part is node for part in walk(one))
    )
    return max(holding, key=lambda one: one.lineno, default=None)


def _constructs(machine: Machine, module: Module, value: ast.expr) -> bool:
    """Whether an expression calls a class, by a name at the top level of the module."""
    root = steps_of(value.func)[:1] if isinstance(value, ast.Call) else ()
    if not isinstance(value, ast.Call) or not root or root[0] not in module.bindings:
        return False
    return machine.evaluate(machine.module_frame(module), value.func).kind is Kind.CLASS


def _loops(function: ast.FunctionDef) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
    return (node for node in walk(function) if isinstance(node, _LOOPS))


def _uses(call: ast.Call, name: str, local: frozenset[str]) -> bool:
    """Whether a call is given an object, or calls what the function made: that may run compiled code."""
    called = steps_of(call.func)[:1]
    given = (*call.args, *(keyword.value for keyword in call.keywords))
    return bool(called and called[0] in local) or any(
        isinstance(one, ast.Name) and one.id == name for value in given for one in walk(value)
    )
