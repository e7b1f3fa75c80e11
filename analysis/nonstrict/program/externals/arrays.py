"""Arrays of NumPy that are made of few elements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge import arrays
from nonstrict.program.domain.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What draws as many numbers as its arguments say, one for each dimension.
_SPREAD = frozenset({"rand", "randn"})
_BY_ELEMENTS = frozenset({"array", "asarray", "asanyarray", "ascontiguousarray"})
_INLINED = 8


def is_small(name: str, values: Sequence[Value]) -> bool:
    """Whether an array that a function of NumPy makes surely is one that inductor inlines."""
    function = name.rpartition(".")[2]
    first = values[0] if values else UNKNOWN
    if function in _BY_ELEMENTS and first.kind in (Kind.LIST, Kind.TUPLE) and first.heap is not None:
        items = first.heap.items.values()
        return 0 < len(items) <= _INLINED and all(item.kind in (Kind.NUMBER, Kind.BOOL) for item in items)
    if function in _BY_ELEMENTS:
        return first.kind in (Kind.NUMBER, Kind.BOOL)
    by_shape = arrays.is_sized(function) or function in _SPREAD
    if by_shape and first.kind is Kind.TUPLE and first.heap is not None and len(first.heap.items) <= 1:
        first = next(iter(first.heap.items.values()), Value(Kind.NUMBER, const=1))
    elif function == "linspace" and len(values) > 2:
        first = values[2]
    elif not by_shape and (function != "arange" or len(values) > 1):
        return False
    if function in _SPREAD and len(values) > 1:
        return False
    return isinstance(first.const, (int, float)) and first.const <= _INLINED
