"""What of an enclosing function runs before its nested functions exist: it cannot change what they see."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import parameter_names, scope_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from nonstrict.facts.scopes import FunctionNode

_Function = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_Loop = (ast.For, ast.AsyncFor, ast.While)
_NOWHERE = 1 << 30


def precedes_closures(outer: FunctionNode, statement: ast.AST, name: str) -> bool:
    """Whether a statement of `outer` has run for the last time when a nested function that reads `name` is made.

    Each call of `outer` has its own variables, so only a loop around both brings the statement back.
    """
    readers = _readers(outer, name)
    together = [reader for reader in readers if not _in_other_branch(outer, statement, reader)]
    if not readers or _first_line(statement) >= min(map(_first_line, together), default=_NOWHERE):
        return False
    around = (loop for loop in _loops(outer) if _covers(loop, statement))
    return not any(_covers(loop, reader) for loop in around for reader in readers)


def loads(outer: ast.AST, name: str) -> int:
    """How often a function's text reads a name."""
    names = (node for node in walk(outer) if isinstance(node, ast.Name) and node.id == name)
    return sum(isinstance(node.ctx, ast.Load) for node in names)


def _readers(outer: FunctionNode, name: str) -> list[ast.AST]:
    """The nested functions that read a variable of `outer`."""
    nested = (inner for inner in walk(outer) if isinstance(inner, _Function) and inner is not outer)
    return [inner for inner in nested if name not in _own(inner) and loads(inner, name)]


def _own(function: FunctionNode) -> frozenset[str] | tuple[str, ...]:
    return parameter_names(function.args) if isinstance(function, ast.Lambda) else scope_of(function).local


def _in_other_branch(outer: ast.AST, statement: ast.AST, reader: ast.AST) -> bool:
    """Whether an `if` runs either the one or the other."""
    for node in walk(outer):
        if isinstance(node, ast.If):
            sides = [any(_covers(part, statement) for part in side) for side in (node.body, node.orelse)]
            others = [any(_covers(part, reader) for part in side) for side in (node.body, node.orelse)]
            if sides in ([True, False], [False, True]) and others == sides[::-1]:
                return True
    return False


def _loops(outer: ast.AST) -> list[ast.AST]:
    return [inner for inner in walk(outer) if isinstance(inner, _Loop)]


def _covers(loop: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in walk(loop))


def _first_line(node: ast.AST) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([getattr(node, "lineno", 0), *(decorator.lineno for decorator in decorators)])
