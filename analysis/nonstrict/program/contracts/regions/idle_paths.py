"""Ways through a region on which it computes no tensor: of a call that takes one Dynamo makes no graph.

Measured on torch 2.13: where the first call of a region takes such a way, the region is never compiled.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from nonstrict.program.contracts.interpreted import Interpreted


class _Idle(NamedTuple):
    """Whether statements may be passed, and the function be left in them, without anything computed."""

    passed: bool
    left: bool


def has_idle_path(region: Interpreted, empty: Collection[ast.AST] = ()) -> bool:
    """Whether the text of a region has a way on which no tensor is computed, whatever decides on it.

    Loops over what is `empty` may not run.
    """
    function = region.mark.function
    body = function.node.body if function is not None else []
    if not isinstance(body, list):
        return False
    summary = region.summary
    computing = {*summary.operations, *(edge.node for edge in summary.calls.values())}
    loops = (one for one in walk(function.node) if isinstance(one, ast.For) and one.iter in empty) if function else ()
    computing -= {node for loop in loops for part in loop.body for node in walk(part)}
    return any(_through(body, computing))


def _through(statements: Sequence[ast.stmt], computing: Collection[ast.AST]) -> _Idle:
    left = False
    for statement in statements:
        one = _of(statement, computing)
        left = left or one.left
        if not one.passed:
            return _Idle(passed=False, left=left)
    return _Idle(passed=True, left=left)


def _of(statement: ast.stmt, computing: Collection[ast.AST]) -> _Idle:
    if isinstance(statement, ast.If):
        if _computes(statement.test, computing):
            return _Idle(passed=False, left=False)
        branches = _through(statement.body, computing), _through(statement.orelse, computing)
        return _Idle(any(one.passed for one in branches), any(one.left for one in branches))
    if isinstance(statement, (ast.For, ast.AsyncFor, ast.While)):
        head = statement.test if isinstance(statement, ast.While) else statement.iter
        idle = not _computes(head, computing)
        return _Idle(idle and _may_run_nothing(statement, computing), idle and _through(statement.body, computing).left)
    if isinstance(statement, (ast.With, ast.AsyncWith)):
        return _through(statement.body, computing)
    if isinstance(statement, ast.Raise):
        return _Idle(passed=False, left=False)
    idle = not _computes(statement, computing)
    ends = isinstance(statement, (ast.Return, ast.Break, ast.Continue))
    return _Idle(passed=idle and not ends, left=idle and isinstance(statement, ast.Return))


def _may_run_nothing(loop: ast.For | ast.AsyncFor | ast.While, computing: Collection[ast.AST]) -> bool:
    """Whether a loop may end before its body computes anything: other loops are taken to run."""
    for statement in loop.body:
        if any(isinstance(node, (ast.Break, ast.Continue)) for node in walk(statement)):
            return True
        if not _of(statement, computing).passed:
            return False
    return True


def _computes(node: ast.AST, computing: Collection[ast.AST]) -> bool:
    return any(inner in computing for inner in walk(node))
