"""What containers of modules are made of: the modules that their arguments hand them."""

from __future__ import annotations

from nonstrict.knowledge.operators import nn_module
from nonstrict.program.values import NO_CONSTANT, Kind, Value, join


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


def hold(module: Value, given: list[Value]) -> None:
    """Put what a `Sequential`, `ModuleList` or `ModuleDict` is made of into it; other modules hold nothing so."""
    known = nn_module(module.ref) if isinstance(module.ref, str) else None
    if known is None or not known.container or module.heap is None:
        return
    for value in given:
        for key, child in children(value):
            module.heap.store(key if isinstance(key, str) else len(module.heap.items), child)


def any_of(module: Value, *, attributes: bool) -> Value | None:
    """Any of the modules that a module holds as entries, and those in its attributes if they are asked for."""
    heap = module.heap
    if heap is None:
        return None
    if isinstance(module.ref, str) and heap.element is not None:
        return heap.element
    held = [*heap.items.values(), *([heap.loose] if heap.loose is not None else [])]
    held += heap.attributes.values() if attributes else []
    found: Value | None = None
    for value in held:
        for one in value.alternatives():
            found = join(found, one) if one.kind is Kind.MODULE else found
    return found
