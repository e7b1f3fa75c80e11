"""Which function object a marked function is: what tells it from others, also from those that the same text makes.

Two applications of a marker to one function give the same results, so they count as one. A function that is defined in
another one differs from call to call of that by what it captures, a partial by what it binds, a bound method by what
it is bound to. Where these are not known, whatever made the function tells it from all others.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import walk
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.values import CALLABLES, Kind, Value
from nonstrict.program.objects import parameters
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.domain.definitions import Environment, Function, Mark

#: Closures that capture closures are followed so far.
_NESTED_CLOSURES = 4


class Identity(NamedTuple):
    """What tells a function from others; `open` where something that it holds is not known."""

    key: object
    open: bool = False


def identity(mark: Mark) -> Identity:
    """What tells a marked function from others, whichever application of the marker made it."""
    if mark.target.kind is Kind.EXTERNAL:
        return Identity(mark.target.ref)
    if mark.function is None:
        return Identity(id(mark))
    return _of(mark.target, _NESTED_CLOSURES)


def differ(marks: Iterable[Mark]) -> bool:
    """Whether some marked functions are not all the same one."""
    return len({identity(mark) for mark in marks}) > 1


def captured(function: Function) -> Iterator[tuple[str, Environment]]:
    """The variables of functions around that a nested function reads, with the frames that hold them."""
    node = function.node
    body = node.body if isinstance(node.body, list) else [node.body]
    free = {inner.id for part in body for inner in walk(part) if isinstance(inner, ast.Name)} - scope_of(node).local
    closure = function.closure
    while closure is not None and closure.function is not None:
        own = free & scope_of(closure.function.node).local
        yield from ((name, closure) for name in sorted(own))
        free -= own
        closure = closure.function.closure


def _of(value: Value, depth: int) -> Identity:
    """What tells a callable from others."""
    if value.mark is not None:
        return _of(value.mark.target, depth)
    if value.partial is not None:
        target, positional, keywords = value.partial
        named = sorted(keywords, key=lambda pair: pair[0])
        bound = [*positional, *(one for _, one in named)]
        return _joined(_of(target, depth), tuple(name for name, _ in named), bound, id(value.ref), depth)
    if value.bound is not None:
        receiver, function = value.bound
        inner = _of(function, depth) if isinstance(function, Value) else Identity(function.node)
        return _joined(inner, "bound", [receiver], id(receiver.heap), depth)
    if value.function is not None:
        return _of_function(value.function, depth)
    return Identity(value.ref)


def _of_function(function: Function, depth: int) -> Identity:
    """What tells a function from others: its text, and what its defaults and the variables around it held."""
    held = [closure.env.get(name) for name, closure in captured(function)] if depth else []
    defaults = parameters.default_nodes(function.node.args).values()
    closure = closure_of(function)
    if closure is not None:
        held += [closure.machine.evaluate(closure, default) for default in defaults]
    return _joined(Identity(function.node), "", held, id(function), depth)


def _joined(inner: Identity, how: object, held: Iterable[Value | None], made: int, depth: int) -> Identity:
    """The identity of a callable that holds some values; `made` is that of the object where they are not known."""
    parts = [_held(value, depth - 1) for value in held]
    if inner.open or any(part is None or part.open for part in parts):
        return Identity((inner.key, how, made), open=True)
    return Identity((inner.key, how, *(part.key for part in parts if part is not None)))


def _held(value: Value | None, depth: int) -> Identity | None:
    """What tells a value that a callable holds from others; None where that is not known."""
    constant = key_of(value) if value is not None else None
    if value is None or constant is not None:
        return Identity(constant) if constant is not None else None
    if value.kind in CALLABLES and depth > 0:
        return _of(value, depth)
    if value.heap is not None:
        return Identity(value.ref if value.kind is Kind.MODULE else id(value.heap))
    return Identity(value.place) if value.place.root is Root.GLOBAL else None
