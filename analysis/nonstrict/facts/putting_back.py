"""Values that are kept only to be put back: `state = torch.get_rng_state(); ...; torch.set_rng_state(state)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def only_put_back(scopes: Iterable[ast.AST], kept: ast.AST, sets: Callable[[ast.Call], bool]) -> bool:
    """Whether what an expression gives is stored in one variable or attribute and only ever given to what sets it.

    `scopes` are the function around it, and for attributes the class; `sets` tells which calls set the value.
    """
    return any(_only_put_back(list(walk(scope)), kept, sets) for scope in scopes)


def _only_put_back(nodes: list[ast.AST], kept: ast.AST, sets: Callable[[ast.Call], bool]) -> bool:
    target = next((_target(node) for node in nodes if isinstance(node, ast.Assign) and node.value is kept), None)
    if target is None:
        return False
    given = [argument for node in nodes if isinstance(node, ast.Call) and sets(node) for argument in node.args]
    put_back = {id(argument) for argument in given}
    loads = [node for node in nodes if _same(node, target) and isinstance(getattr(node, "ctx", None), ast.Load)]
    return bool(loads) and all(id(load) in put_back for load in loads)


def _target(statement: ast.Assign) -> ast.expr | None:
    target = statement.targets[0] if len(statement.targets) == 1 else None
    return target if isinstance(target, (ast.Name, ast.Attribute)) else None


def _same(node: ast.AST, target: ast.expr) -> bool:
    """Whether a node is the variable, or an attribute of that name of any object."""
    if isinstance(target, ast.Name):
        return isinstance(node, ast.Name) and node.id == target.id
    return isinstance(node, ast.Attribute) and isinstance(target, ast.Attribute) and node.attr == target.attr
