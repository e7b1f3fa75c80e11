"""Shallow copies of values: what a copy holds itself is new, what it leads to is still what the original holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.values import CONTAINERS, UNKNOWN, AbstractObject, Flag, Kind, Value, join, relocated
from nonstrict.program.objects import classes, subscripts

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame

_OBJECTS = frozenset({Kind.OBJECT, Kind.INSTANCE, Kind.MODULE})
#: What a plain attribute of a module is no state of: torch tracks it, or it is told where it is used.
_TOLD = frozenset({Kind.PARAMETER, Kind.MODULE})


def shallow(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`copy.copy(value)`."""
    found: Value | None = None
    for alternative in positional[0].alternatives() if positional else (UNKNOWN,):
        found = join(found, _copied(frame, node, alternative))
    return found or UNKNOWN


def changed(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`dataclasses.replace(instance, field=value)`: a new object."""
    for value in keywords.values():
        frame.consume(node, value)
    given = positional[0] if positional else UNKNOWN
    if given.kind is not Kind.OBJECT:
        frame.consume(node, given)
        return UNKNOWN
    made = _object(frame, node, given)
    if made.heap is not None:
        made.heap.attributes.update(keywords)
    return made


def _copied(frame: Frame, node: ast.AST, value: Value) -> Value:
    if value.kind in CONTAINERS:
        return subscripts.copied(value)._replace(ref=value.ref)
    if value.kind is Kind.NUMPY:
        return frame.consume(node, value).at(FRESH)
    if value.kind is Kind.UNKNOWN:
        frame.consume(node, value)
        return UNKNOWN.with_taint(value.taint)
    own = classes.special(frame, node, value, "__copy__", [])
    if own is not None:
        return own
    is_object = value.kind in _OBJECTS and (value.kind is not Kind.MODULE or value.of_class is not None)
    return _object(frame, node, value) if is_object else value


def _object(frame: Frame, node: ast.AST, given: Value) -> Value:
    """A new object with the attributes of another one: what they hold is read where they are."""
    known = given.heap
    if known is None or known.open:
        frame.consume(node, given)
    made = AbstractObject()
    if known is not None:
        made.element, made.items, made.loose = known.element, dict(known.items), known.loose
        made.hooks, made.backward, made.inner = list(known.hooks), list(known.backward), list(known.inner)
        made.open, made.unsure, made.switched = known.open, known.unsure, known.switched
        for name, value in known.attributes.items():
            made.attributes[name] = _attribute(given, name, value)
    return Value(given.kind, FRESH, given.ref, heap=made, flags=given.flags, taint=given.taint)


def _attribute(given: Value, name: str, value: Value) -> Value:
    if given.place.root in (Root.FRESH, Root.UNKNOWN):
        return value
    found = relocated(value, given.place.step(f".{name}"))
    unguarded = given.kind is Kind.MODULE and given.place.root is Root.ARGUMENT
    if unguarded and found.kind not in _TOLD and not found.flags & Flag.REGISTERED:
        return found._replace(flags=found.flags | Flag.INSIDE)
    return found
