"""Names that a function tests for being set before it sets them: the idiom of lazy initialisation."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode


def tests_before_use(function: FunctionNode, name: str) -> bool:
    """Whether a function asks if a name (`CACHE`) or attribute (`.table`) is None, empty, or lacks a key."""
    return name in _sets(function)[0]


def fills(function: FunctionNode, name: str) -> bool:
    """Whether a function tests a name or attribute before use and stores into it: a lazily filled cache."""
    tested, stored = _sets(function)
    return name in tested and name in stored


def _sets(function: FunctionNode) -> tuple[set[str], set[str]]:
    cached: tuple[set[str], set[str]] | None = getattr(function, "_nonstrict_lazy", None)
    if cached is None:
        cached = (_tested(function), _stored(function))
        function._nonstrict_lazy = cached  # type: ignore[attr-defined]
    return cached


def _stored(function: FunctionNode) -> set[str]:
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, (ast.Attribute, ast.Subscript, ast.Name)) and not isinstance(node.ctx, ast.Load):
            found.add(_root(node))
    return found


def _tested(function: FunctionNode) -> set[str]:
    found: set[str] = set()
    for node in walk(function):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator, right = node.ops[0], node.comparators[0]
            if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
                found.add(_root(node.left))
            elif isinstance(operator, (ast.In, ast.NotIn)):
                found.add(_root(right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.add(_root(node.operand))
    return found - {""}


def _root(node: ast.AST) -> str:
    """What a test or store is about: `CACHE` for a name or its items, `.table` for an attribute or its items."""
    attribute = ""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        attribute = f".{node.attr}" if isinstance(node, ast.Attribute) else attribute
        node = node.value
    return attribute or (node.id if isinstance(node, ast.Name) else "")
