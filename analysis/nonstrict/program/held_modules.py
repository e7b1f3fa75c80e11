"""What containers of modules are made of: the modules that their arguments hand them."""

from __future__ import annotations

from nonstrict.program.values import NO_CONSTANT, Kind, Value


def children(value: Value) -> list[tuple[object, Value]]:
    """The modules that an argument of a container hands it, by their keys: itself, or the elements of what iterates."""
    if value.kind not in (Kind.LIST, Kind.DICT, Kind.TUPLE, Kind.ITERATOR) or value.heap is None:
        return [(NO_CONSTANT, value)]
    if value.kind is Kind.DICT:
        return [*value.heap.items.items()] or _of_pairs(value.heap.element)
    return [(NO_CONSTANT, member) for member in value.heap.members()]


def _of_pairs(element: Value | None) -> list[tuple[object, Value]]:
    """What a dict holds of which only one element is known: a value, or the pairs that it was made of."""
    found: list[tuple[object, Value]] = []
    for member in element.alternatives() if element is not None else ():
        paired = member.heap.items.get(1) if member.kind is Kind.TUPLE and member.heap is not None else None
        found.append((NO_CONSTANT, member if paired is None else paired))
    return found
