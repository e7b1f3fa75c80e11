"""Context variables that code sets for what it runs, and resets when that is done."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.memo import remembered
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BLOCKS = ("body", "orelse", "finalbody")
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Setting(NamedTuple):
    """The lines between `token = V.set(...)` and the end of the `try` that resets `V`; `name` is `V`."""

    name: str
    first: int
    last: int


def settings(function: ast.AST) -> tuple[Setting, ...]:
    """The variables that a function itself sets and resets."""
    return remembered(function, "_nonstrict_settings", _settings)


def around_yield(function: ast.AST) -> frozenset[str]:
    """The variables that a generator has set where it yields."""
    yields = [node.lineno for node in walk(function) if isinstance(node, ast.Yield)]
    held = (one.name for one in settings(function) if any(one.first <= line <= one.last for line in yields))
    return frozenset(held)


def around_block(cls: ast.ClassDef) -> frozenset[str]:
    """The variables that `__enter__` sets and `__exit__` resets."""
    methods = {method.name: method for method in cls.body if isinstance(method, _METHODS)}
    entered, left = methods.get("__enter__"), methods.get("__exit__")
    if entered is None or left is None:
        return frozenset()
    return frozenset(_called(entered.body, "set")) & frozenset(_called(left.body, "reset"))


def variable(node: ast.AST) -> str:
    """The name of the variable that a method is called on: `V` in `state.V.get()`; "" of anything else."""
    function = node.func if isinstance(node, ast.Call) else None
    steps = steps_of(function.value) if isinstance(function, ast.Attribute) else ()
    return steps[-1].removeprefix(".") if steps else ""


def body_of(function: ast.AST, manager: ast.AST) -> tuple[int, int]:
    """The first and last line of the block of the `with` statement that enters a manager; (1, 0) if there is none."""
    for node in walk(function):
        if isinstance(node, (ast.With, ast.AsyncWith)) and any(one.context_expr is manager for one in node.items):
            return node.body[0].lineno, node.end_lineno or node.lineno
    return 1, 0


def _settings(function: ast.AST) -> tuple[Setting, ...]:
    return () if isinstance(function, ast.Lambda) else tuple(_in_block(getattr(function, "body", [])))


def _in_block(block: Sequence[ast.stmt]) -> Iterator[Setting]:
    for position, statement in enumerate(block):
        if isinstance(statement, (*_METHODS, ast.ClassDef)):
            continue
        if isinstance(statement, ast.Try) and statement.finalbody:
            reset = set(_called(statement.finalbody, "reset"))
            last = statement.body[-1].end_lineno or statement.lineno
            for before in (*block[:position], *statement.body):
                yield from (Setting(name, before.lineno, last) for name in _called([before], "set") if name in reset)
        for field in _BLOCKS:
            inner: list[ast.stmt] = getattr(statement, field, [])
            yield from _in_block(inner)


def _called(block: Sequence[ast.stmt], method: str) -> Iterator[str]:
    """The variables on which statements of a block themselves call a method."""
    for statement in block:
        value = statement.value if isinstance(statement, (ast.Assign, ast.Expr)) else None
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == method:
            yield variable(value)
