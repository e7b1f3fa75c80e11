"""The loops and comprehensions that give a variable its value round by round, and what they go through."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.loops import looping
from nonstrict.facts.walk import walk
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.program.state.frames import Frame

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)


class Loop(NamedTuple):
    """A loop that binds a variable: what it goes through, and the target of each element, but for the number of it."""

    iterable: ast.expr
    target: ast.expr
    body: Sequence[ast.AST]


def loops_giving(frame: Frame, place: ast.AST, variable: ast.expr) -> Iterator[Loop]:
    """The loops around a place that give it a variable, with or without counting: `for i, x in enumerate(xs)`.

    Comprehensions that choose among their elements do not count.
    """
    name = variable.id if isinstance(variable, ast.Name) else ""
    for node in looping(naming.text_of(frame)) if name else ():
        for loop in _loops(frame, node):
            is_bound = any(isinstance(one, ast.Name) and one.id == name for one in walk(loop.target))
            if is_bound and any(inner is place for part in loop.body for inner in walk(part)):
                yield loop


def position_of(loop: Loop, variable: ast.Name) -> tuple[int, int] | None:
    """Where a loop that takes its elements apart takes a variable from, and of how many; None for the whole element."""
    parts = loop.target.elts if isinstance(loop.target, (ast.Tuple, ast.List)) else []
    found = (at for at, one in enumerate(parts) if isinstance(one, ast.Name) and one.id == variable.id)
    return next(((at, len(parts)) for at in found), None)


def iterated(frame: Frame, loop: Loop, variable: ast.expr) -> ast.expr:
    """What a loop goes through that gives a variable its values: of `zip(a, b)` one of the two."""
    position = position_of(loop, variable) if isinstance(variable, ast.Name) else None
    over = loop.iterable if isinstance(loop.iterable, ast.Call) else None
    if position is None or over is None or naming.names_at(frame)(over.func) != "builtins.zip":
        return loop.iterable
    return over.args[position[0]] if len(over.args) == position[1] else loop.iterable


def _loops(frame: Frame, node: ast.AST) -> Iterator[Loop]:
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield _uncounted(frame, node.iter, node.target, node.body)
    elif isinstance(node, _COMPREHENSIONS) and not any(one.ifs for one in node.generators):
        yield from (_uncounted(frame, one.iter, one.target, [node.elt]) for one in node.generators)


def _uncounted(frame: Frame, iterable: ast.expr, target: ast.expr, body: Sequence[ast.AST]) -> Loop:
    counted = isinstance(iterable, ast.Call) and naming.names_at(frame)(iterable.func) == "builtins.enumerate"
    if counted and isinstance(iterable, ast.Call) and iterable.args and isinstance(target, (ast.Tuple, ast.List)):
        return Loop(iterable.args[0], target.elts[-1], body)
    return Loop(iterable, target, body)
