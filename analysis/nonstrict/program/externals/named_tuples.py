"""Classes of named tuples that a call makes, and methods of named tuples that make others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import NAMED_TUPLE, NO_CONSTANT, UNKNOWN, AbstractObject, Kind, Value, container
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping

    from nonstrict.program.state.frames import Frame

_EMPTY = AbstractObject()


def method(receiver: Value, name: str, keywords: Mapping[str, Value]) -> Value | None:
    """What `_replace` and `_make` return; None for anything else, and what is no named tuple."""
    if name == "_make":
        return Value(Kind.TUPLE, FRESH, NAMED_TUPLE, heap=AbstractObject()) if receiver.dotted == NAMED_TUPLE else None
    if name != "_replace":
        return None
    heap = receiver.heap or _EMPTY
    if receiver.kind is Kind.TUPLE and receiver.dotted == NAMED_TUPLE:
        made = AbstractObject()
        made.element, made.attributes = heap.element, {**heap.attributes, **keywords}
        made.items = {**heap.items, **_numbered(heap, keywords)}
        return Value(Kind.TUPLE, FRESH, NAMED_TUPLE, heap=made)
    if receiver.kind is Kind.OBJECT and receiver.of_class is not None and classes.is_dataclass(receiver.of_class):
        made = AbstractObject()
        made.attributes = {**heap.attributes, **keywords}
        return Value(Kind.OBJECT, FRESH, receiver.ref, heap=made)
    return None


def _numbered(heap: AbstractObject, keywords: Mapping[str, Value]) -> dict[int, Value]:
    return {index: keywords[name] for index, name in enumerate(heap.attributes) if name in keywords}


def made(frame: Frame, node: ast.AST, positional: list[Value], keywords: dict[str, Value]) -> Value:
    """`namedtuple("Pair", "left right")`: a class; its heap holds the names of the fields as keys."""
    heap = AbstractObject()
    for name in _field_names(positional[1]) if len(positional) > 1 else ():
        heap.store(name, UNKNOWN)
    return Value(Kind.INSTANCE, FRESH, NAMED_TUPLE, heap=heap)


def _field_names(given: Value) -> list[str]:
    if isinstance(given.const, str):
        return given.const.replace(",", " ").split()
    items = list(given.heap.items.values()) if given.heap is not None else []
    first = (item.heap.load(0) if item.kind is Kind.TUPLE and item.heap is not None else item for item in items)
    return [item.const for item in first if item is not None and isinstance(item.const, str)]


def instance(fields: list[object], positional: list[Value], keywords: dict[str, Value]) -> Value:
    """A named tuple with some fields, given as its class is called."""
    built = container(Kind.TUPLE, *positional)._replace(ref=NAMED_TUPLE)
    heap = built.heap
    if heap is not None:
        for name, value in keywords.items():
            heap.store(fields.index(name) if name in fields else NO_CONSTANT, value)
        given = {name: heap.items[index] for index, name in enumerate(fields) if index in heap.items}
        heap.attributes.update({name: value for name, value in given.items() if isinstance(name, str)})
    return built
