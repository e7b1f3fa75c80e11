"""Any of several values: their join, in which lists made at several places are one list of which less is known."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import AbstractObject, Kind, Value, join

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SEQUENCES = frozenset({Kind.LIST, Kind.TUPLE})
_SEVERAL = 2


def any_of(values: Iterable[Value]) -> Value | None:
    """Any of some values; None if there are none."""
    given = [*values]
    if len(given) >= _SEVERAL and (one := _any_sequence(given)) is not None:
        return one
    return functools.reduce(join, given) if given else None


def _any_sequence(given: Sequence[Value]) -> Value | None:
    """Any of some lists, or tuples, that were made here: what all of them have at a position is told there."""
    first, heaps = given[0], [one.heap for one in given if one.heap is not None]
    elements = [heap.element for heap in heaps if heap.element is not None]
    plain = {(one.kind, one.ref) for one in given} == {(first.kind, first.ref)}
    if first.kind not in _SEQUENCES or not plain or len(elements) != len(given) or len({*map(id, heaps)}) == 1:
        return None
    made = AbstractObject()
    for key in heaps[0].items:
        entries = [heap.items[key] for heap in heaps if key in heap.items]
        if len(entries) == len(heaps):
            made.items[key] = functools.reduce(join, entries)
    made.element = functools.reduce(join, elements)
    if any(heap.loose is not None or heap.items.keys() != made.items.keys() for heap in heaps):
        made.loose, made.unsure = made.element, True
    made.open = any(heap.open for heap in heaps)
    made.unsure = made.unsure or any(heap.unsure for heap in heaps)
    taint = frozenset[object]().union(*(one.taint for one in given))
    return Value(first.kind, FRESH, first.ref, heap=made).with_taint(taint)
