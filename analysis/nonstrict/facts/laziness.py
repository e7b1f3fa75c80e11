"""Names that a function tests for being set before it sets them: the idiom of lazy initialisation."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode


_TARGET = (ast.Attribute, ast.Subscript, ast.Name)


def tests_before_use(function: FunctionNode, name: str) -> bool:
    """Whether a function asks if a name (`CACHE`) or attribute (`.table`) is None, empty, or lacks a key.

    A flag that is only ever set to a constant, and a value computed from the one before, are no lazy initialisation:
    what the function does depends on how often it ran.
    """
    facts = _facts(function)
    return name in facts.tested and name not in facts.counting


def fills(function: FunctionNode, name: str) -> bool:
    """Whether a function tests a name or attribute before use and stores into it: a lazily filled cache."""
    return tests_before_use(function, name) and name in _facts(function).stored


def sets_itself(function: FunctionNode, name: str) -> bool:
    """Whether a function tests a name or attribute that it stores into, be it a cache, a flag or a running value."""
    facts = _facts(function)
    return name in facts.tested and name in facts.stored


def returns_what_it_kept(function: FunctionNode) -> bool:
    """Whether a function starts with `if RESULT is not None: return RESULT` and fills `RESULT` later.

    That is a cache written by hand.
    """
    for statement in [] if isinstance(function, ast.Lambda) else function.body:
        if isinstance(statement, (ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom)) or is_docstring(statement):
            continue
        if not isinstance(statement, ast.If) or statement.orelse or not isinstance(statement.body[-1], ast.Return):
            return False
        return any(fills(function, name) and not _is_variable(function, name) for name in _present(statement.test))
    return False


def _present(test: ast.expr) -> set[str]:
    """What a condition asks to be there: `RESULT`, `RESULT is not None`, `key in CACHE`, or several of these."""
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And):
        return set[str]().union(*map(_present, test.values))
    if isinstance(test, (ast.Name, ast.Attribute)):
        return {_root(test)}
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], ast.IsNot):
            return {_root(test.left)}
        if isinstance(test.ops[0], ast.In):
            return {_root(test.comparators[0])}
    return set()


def _is_variable(function: FunctionNode, name: str) -> bool:
    """Whether a name is bound anew in the function itself, so that nothing of it stays."""
    scope = scope_of(function)
    return name in scope.assigned and name not in scope.global_names and name not in scope.nonlocal_names


def is_docstring(statement: ast.stmt) -> bool:
    """Whether a statement is a text by itself."""
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


class _Facts(NamedTuple):
    tested: set[str]
    stored: set[str]
    counting: set[str]


def _facts(function: FunctionNode) -> _Facts:
    return remembered(function, "_nonstrict_laziness", _collect)


def _collect(function: FunctionNode) -> _Facts:
    stored = _stored(function)
    counting = {name for name, values in stored.items() if _counts(name, values)}
    return _Facts(_tested(function), set(stored), counting)


def _counts(name: str, values: list[ast.AST | None]) -> bool:
    """Whether what is stored tells how often the function ran: flags, counters, running values."""
    if all(isinstance(value, ast.Constant) and value.value is not None for value in values):
        return True
    return any(isinstance(value, ast.AugAssign) or (value is not None and _reads(value, name)) for value in values)


def _reads(value: ast.AST, name: str) -> bool:
    return any(isinstance(node, (ast.Name, ast.Attribute)) and _root(node) == name for node in walk(value))


def _stored(function: FunctionNode) -> dict[str, list[ast.AST | None]]:
    """What is stored into names and attributes: the value's expression, None where it is not to be had."""
    found: dict[str, list[ast.AST | None]] = {}
    plain: set[ast.AST] = set()
    for node in walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                plain.add(target)
                found.setdefault(_root(target), []).append(node.value)
        elif isinstance(node, ast.AugAssign):
            plain.add(node.target)
            found.setdefault(_root(node.target), []).append(node)
        elif isinstance(node, _TARGET) and node not in plain and not isinstance(node.ctx, ast.Load):
            found.setdefault(_root(node), []).append(None)
    found.pop("", None)
    return found


def _tested(function: FunctionNode) -> set[str]:
    found: set[str] = set()
    looked_up: dict[str, str] = {}
    for node in walk(function):
        if isinstance(node, (ast.Assign, ast.NamedExpr)) and _is_lookup(node.value):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
                    looked_up[target.id] = _root(getattr(node.value.func, "value", node.value))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator, right = node.ops[0], node.comparators[0]
            if isinstance(operator, (ast.Is, ast.IsNot)) and isinstance(right, ast.Constant) and right.value is None:
                left = node.left.target if isinstance(node.left, ast.NamedExpr) else node.left
                found.add(_root(left))
            elif isinstance(operator, (ast.In, ast.NotIn)):
                found.add(_root(right))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            found.add(_root(node.operand))
        elif isinstance(node, ast.Try) and any(_catches_missing(handler) for handler in node.handlers):
            for statement in node.body:
                found.update(_root(inner) for inner in walk(statement) if isinstance(inner, ast.Subscript))
    found.update(container for name, container in looked_up.items() if name in found)
    return found - {""}


def _is_lookup(value: ast.AST) -> bool:
    """`CACHE.get(key)`."""
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "get"


def _catches_missing(handler: ast.ExceptHandler) -> bool:
    return getattr(handler.type, "id", "") == "KeyError"


def _root(node: ast.AST) -> str:
    """What a test or store is about: `CACHE` for a name or its items, `.table` for an attribute or its items."""
    attribute = ""
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        attribute = f".{node.attr}" if isinstance(node, ast.Attribute) else attribute
        node = node.value
    return attribute or (node.id if isinstance(node, ast.Name) else "")
