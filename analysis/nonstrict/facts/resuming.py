"""Where Dynamo cannot resume a function after the graph broke in it: in loops, in `try`, and in most `with` blocks.

Then it gives up, and the whole function runs as plain Python. Of torch 2.13, `symbolic_convert.py`: a jump backwards
behind the instruction (`maybe_has_backedge`), and an exception table around it that is not that of a context manager
which can be entered again (`should_compile_partial_graph`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, TypeAlias

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.facts.scopes import FunctionNode

_DEFINITION = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


#: Line and column behind an expression.
Position: TypeAlias = tuple[int, int]


def end_of(node: ast.AST) -> Position:
    """Where an expression ends: what is evaluated first ends first, what an expression is made of before itself."""
    return getattr(node, "end_lineno", 0) or 0, getattr(node, "end_col_offset", 0) or 0


def giving_up(function: FunctionNode, node: ast.AST, is_restored: Callable[[ast.expr], bool]) -> ast.stmt | None:
    """The outermost statement because of which a function is given up where the graph breaks at a node in it.

    `is_restored` tells context managers that a resumed function enters again.
    """
    body = function.body if isinstance(function.body, list) else []
    return next((one for one in _around(body, node) if _is_in_the_way(one, node, is_restored)), None)


def _around(body: Iterable[ast.stmt], node: ast.AST) -> Iterator[ast.stmt]:
    """The statements around a node, from the outside in."""
    for statement in body:
        if isinstance(statement, _DEFINITION) or not _holds(statement, node):
            continue
        yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from _around(getattr(statement, field, ()), node)
        for handler in getattr(statement, "handlers", ()):
            yield from _around(handler.body, node)
        for case in getattr(statement, "cases", ()):
            yield from _around(case.body, node)


def _is_in_the_way(statement: ast.stmt, node: ast.AST, is_restored: Callable[[ast.expr], bool]) -> bool:
    if isinstance(statement, (ast.For, ast.AsyncFor)):
        return _hold(statement.body, node)
    if isinstance(statement, ast.While):
        return _hold([statement.test, *statement.body], node)
    if isinstance(statement, ast.Try):
        behind = [] if not statement.finalbody else statement.orelse
        return _hold([*statement.body, *statement.handlers, *behind], node)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        managers = (item.context_expr for item in statement.items)
        return _hold(statement.body, node) and not all(map(is_restored, managers))
    return False


def _hold(parts: Iterable[ast.AST], node: ast.AST) -> bool:
    return any(_holds(part, node) for part in parts)


def _holds(part: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in walk(part))
