"""Functions that return one thing or another by what they are given: `None` for texts of one length, else a mask."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import arguments
from nonstrict.facts.reaching import reaching, source
from nonstrict.facts.scopes import is_as_passed
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.domain.definitions import Function
from nonstrict.program.interpret.rounds import MANY, holds, rounds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.discovery.sites import Passing


def is_chosen_anew(one: Passing) -> bool:
    """Whether what a call passes is returned by a function that decides on it by what a loop gives it each time."""
    call = _made(one)
    called = one.frame.machine.evaluate(one.frame, call.func) if call is not None else None
    function = (called.bound.function if called.bound is not None else called.function) if called is not None else None
    if call is None or called is None or not isinstance(function, Function):
        return False
    passed = arguments.passed(function.node, call, int(called.bound is not None))
    deciding = _deciding(function.node)
    return any(
        name in deciding and (rounds(one.frame, one.node, given, MANY) > 1 or rounds(one.frame, call, given, MANY) > 1)
        for name, given in passed.items()
    )


def _made(one: Passing) -> ast.Call | None:
    """The call that makes what is passed, or of which it is a part."""
    if isinstance(one.expression, ast.Name):
        bound = reaching(naming.text_of(one.frame), one.expression.id, one.expression)
        return bound.value if bound is not None and isinstance(bound.value, ast.Call) else None
    return one.expression if isinstance(one.expression, ast.Call) else None


def _deciding(function: FunctionNode) -> set[str]:
    """The parameters by which a function decides what it returns: at one `return` or another."""
    own = list(own_scope(function))
    returns = [node for node in own if isinstance(node, ast.Return)]
    choosing = [
        node.test
        for node in own
        if isinstance(node, ast.If) and any(holds([*node.body, *node.orelse], one) for one in returns)
    ]
    choosing += [one.test for node in returns if node.value is not None for one in _expressions(function, node.value)]
    names = {node.id for test in choosing for node in walk(test) if isinstance(node, ast.Name)}
    return {name for name in names if is_as_passed(function, name)} if len(returns) > 1 or choosing else set()


def _expressions(function: FunctionNode, returned: ast.expr) -> Iterator[ast.IfExp]:
    """The conditional expressions that are returned, or parts of what is."""
    parts = returned.elts if isinstance(returned, (ast.Tuple, ast.List)) else [returned]
    yield from (made for part in parts if isinstance(made := source(function, part), ast.IfExp))
