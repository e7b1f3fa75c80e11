"""Results that a function keeps where other calls find them: in attributes, globals, containers that it is given."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts import outliving
from nonstrict.facts.running_order import order_of
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import own_scope, walk
from nonstrict.program.contracts.regions import kept_objects, meanings
from nonstrict.program.discovery import callers
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from nonstrict.facts.holding import Kept
    from nonstrict.facts.steps import Steps
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

_Method = ast.FunctionDef | ast.AsyncFunctionDef
_SEVERAL = 2


def collected(frame: Frame, one: Kept, node: ast.expr) -> outliving.Outlived | None:
    """What reads a container to which several calls of a function add what an expression gives, one after the other."""
    text, function = naming.text_of(frame), frame.function
    if function is None or order_of(text).loops(one.node) or not outliving.is_shared(text, one.name):
        return None
    if not one.name or outliving.is_emptied(text, one, means=meanings.at(frame)):
        return None
    others = _methods(function, one.name)
    emptying = frozenset(
        other.name for other, held in others if outliving.empties(other, held, means=meanings.inside(frame, other))
    )
    if kept_objects.times(frame.machine, function, one.name, partial(_is_emptied, emptying)) < _SEVERAL:
        return None
    read = next(_reads(frame, function, one), None)
    return outliving.Outlived(node, read) if read is not None else None


def _is_emptied(emptying: frozenset[str], frame: Frame, call: ast.Call, held: ast.expr) -> bool:
    """Whether each round of the loop around a call also calls a method of what `held` is that is one of `emptying`."""
    order = order_of(naming.text_of(frame))
    loop = next(iter(order.loops(call)), None)
    methods = [one for one in walk(loop) if isinstance(one, ast.Call)] if loop is not None else []
    return any(
        isinstance(one.func, ast.Attribute)
        and one.func.attr in emptying
        and steps_of(one.func.value) == steps_of(held)
        and order.is_sure(one, call)
        for one in methods
    )


def _reads(frame: Frame, function: Function, one: Kept) -> Iterator[ast.AST]:
    """What looks into such a container: its own text, other methods, and those who call it, by what they add to."""
    own = outliving.looked_into(naming.text_of(frame), one.name, means=meanings.at(frame))
    found = (
        outliving.looked_into(other, held, means=meanings.inside(frame, other))
        for other, held in _methods(function, one.name)
    )
    yield from (read for read in (own, *found) if read is not None)
    for outer, call, expression in kept_objects.passed(function, one.name[0], frame.machine):
        held = (*steps_of(expression), *one.name[1:])
        if outliving.looked_into(naming.text_of(outer), held, call, means=meanings.at(outer)) is not None:
            yield one.node


def _methods(function: Function, name: Steps) -> list[tuple[_Method, Steps]]:
    """The other methods of the class, and what an attribute of their receiver is for them that a name leads to."""
    if function.owner is None or name[0] != receiver_of(function.node):
        return []
    inside = [one for one in function.owner.node.body if isinstance(one, _Method)]
    return [(one, (receiver_of(one), *name[1:])) for one in inside if one.name not in ("__init__", function.name)]


def by_methods(frame: Frame, one: Kept, runs: Callable[[_Method], Sequence[ast.AST]]) -> outliving.Outlived | None:
    """The run in another method of a class before that reads the attribute in which one keeps something."""
    function = frame.function
    if function is None or not one.name:
        return None
    calls = frozenset(node for _, node, _, _ in callers.calls_of_function(frame.machine, function))
    for other, name in _methods(function, one.name):
        again = [node for node in own_scope(other) if node in calls]
        found = outliving.read_behind(other, name, runs(other), again, means=meanings.inside(frame, other))
        if found is not None:
            return found
    return None
