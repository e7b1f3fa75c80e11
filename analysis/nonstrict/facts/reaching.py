"""Which binding of a variable a place in the text reads, where that is one: the last in front of it on every way there.

Where branches, loops or `try` bind the variable on the way, nothing is said.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.use_def import Definition, use_def
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.facts.scopes import FunctionNode

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_DEFERRED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr)


def reaching(around: FunctionNode | ast.Module, name: str, place: ast.AST) -> Definition | None:
    """The binding of a variable of a function or module that a place reads; None where it is not known to be one.

    A variable that is bound once is read as that wherever the place is.
    """
    only, definitions = use_def(around).only(name), use_def(around).every(name)
    return only if only is not None else last_before(around, definitions, place)


def last_before(
    around: FunctionNode | ast.Module, definitions: Sequence[Definition], place: ast.AST
) -> Definition | None:
    """The last of some bindings in front of a place, on every way there; None where it is not known to be one."""
    if not definitions or isinstance(around, ast.Lambda):
        return None
    found: Definition | None = None
    body: Sequence[ast.stmt] = around.body
    while True:
        own = next((one for one in body if _holds(one, place)), None)
        if own is None or isinstance(own, _DEFERRED):
            return None
        for statement in body[: body.index(own)]:
            found = _after(statement, definitions, found)
        inner = next((part for part in _parts(own) if any(_holds(one, place) for one in part)), None)
        if inner is None:
            targets = {node for one in getattr(own, "targets", ()) for node in walk(one)}
            return None if any(one.node not in targets for one in _in([own], definitions)) else found
        if _is_bound_around(own, inner, definitions):
            found = None
        body = inner


def source(around: FunctionNode | ast.Module, expression: ast.expr) -> ast.expr:
    """The expression that a variable is bound to where it is read, or what is not bound to one as a whole."""
    followed = set[ast.expr]()
    while isinstance(expression, ast.Name) and expression not in followed:
        followed.add(expression)
        bound = reaching(around, expression.id, expression)
        if bound is None or bound.value is None or bound.part is not None:
            break
        expression = bound.value
    return expression


def _after(statement: ast.stmt, definitions: Iterable[Definition], before: Definition | None) -> Definition | None:
    """The binding that is read behind a statement."""
    here = _in([statement], definitions)
    if not here:
        return before
    return here[0] if len(here) == 1 and isinstance(statement, _SIMPLE) else None


def _is_bound_around(statement: ast.stmt, block: Sequence[ast.stmt], definitions: Iterable[Definition]) -> bool:
    """Whether a block may read what its statement binds elsewhere: in its head, another block, a round before."""
    if isinstance(statement, ast.If):
        return bool(_in([statement.test], definitions))
    inside = _in([statement], definitions)
    return bool(inside) if isinstance(statement, _LOOPS) else len(inside) > len(_in(block, definitions))


def _parts(statement: ast.stmt) -> list[list[ast.stmt]]:
    """The blocks of a statement."""
    several = [getattr(statement, field, []) for field in ("body", "orelse", "finalbody")]
    several += [handler.body for handler in getattr(statement, "handlers", [])]
    return several + [case.body for case in getattr(statement, "cases", [])]


def _holds(statement: ast.stmt, place: ast.AST) -> bool:
    return any(inner is place for inner in walk(statement))


def _in(nodes: Iterable[ast.AST], definitions: Iterable[Definition]) -> list[Definition]:
    inside = {inner for node in nodes for inner in walk(node)}
    return [one for one in definitions if one.node in inside]
