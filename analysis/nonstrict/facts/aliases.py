"""Local variables that only stand for something else: `w = WEIGHTS["a"]`, bound once."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.steps import steps_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode


def aliases_of(function: FunctionNode) -> dict[str, ast.expr]:
    """The variables of a function that are bound once, to a name, an attribute or an entry, with that expression."""
    return remembered(function, "_nonstrict_aliases", _find)


def _find(function: FunctionNode) -> dict[str, ast.expr]:
    values = ((name, one.value) for name, one in use_def(function).once() if one.part is None)
    return {name: value for name, value in values if value is not None and steps_of(value)}


def renamed_in(function: FunctionNode | ast.Module) -> frozenset[ast.AST]:
    """Where a text reads a variable only to give another one its value: `y` of `z = y`."""
    return remembered(function, "_nonstrict_renamed", lambda one: frozenset(_renamed(one)))


def _renamed(function: FunctionNode | ast.Module) -> Iterator[ast.AST]:
    assigned = (one for one in own_scope(function) if isinstance(one, ast.Assign) and isinstance(one.value, ast.Name))
    yield from (one.value for one in assigned if all(isinstance(target, ast.Name) for target in one.targets))


def names_beside(node: ast.AST) -> Iterator[str]:
    """The variables that an expression reads directly: itself, what it calls a method of, its arguments.

    None of a call that works in place: what it reads there is a part of the change.
    """
    if isinstance(node, ast.NamedExpr):
        yield node.target.id
    if isinstance(node, ast.Name):
        yield node.id
    parts: list[ast.AST] = []
    if isinstance(node, ast.Call) and not _works_in_place(node):
        parts = [*node.args, *(keyword.value for keyword in node.keywords)]
        parts += [node.func.value] if isinstance(node.func, ast.Attribute) else []
    elif isinstance(node, (ast.Attribute, ast.Subscript)):
        parts = [node.value]
    yield from (part.id for part in parts if isinstance(part, ast.Name))


def _works_in_place(call: ast.Call) -> bool:
    return last_name(call).endswith("_") or any(keyword.arg == "out" for keyword in call.keywords)
