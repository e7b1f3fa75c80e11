"""What of the results of a region lies in memory of its CUDA graph, as far as its function tells what it returns.

Numbers and tensors of the CPU are none of it, and neither is memory that the region was given: torch rebuilds what is
an argument, or a view of one, from what the caller passed, and leaves parameters, buffers and constants where they are.
Source: `torch/_functorch/_aot_autograd/runtime_wrappers.py` and `torch/_inductor/cudagraph_trees.py` of torch 2.13
(`IsInputHandler`, `AliasOfInputHandler`, `static_output_tensors`).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import ANY_ENTRY, EACH, may_meet
from nonstrict.knowledge.operators import is_view_attribute, tensor_attribute, tensor_method
from nonstrict.program.contracts.boundary.registered import is_named_tuple
from nonstrict.program.domain.access_paths import CAPTURED, Root
from nonstrict.program.domain.values import (
    CALLABLES,
    HOLDERS,
    NESTED_CONTAINERS,
    NO_CONSTANT,
    PRIMITIVES,
    UNKNOWN,
    Flag,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.facts.steps import Steps
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.values import AbstractObject, Value

_OTHERS = PRIMITIVES | CALLABLES | {Kind.PYTHON_MODULE, Kind.NUMPY, Kind.GENERATOR, Kind.MODULE}
_GIVEN = CAPTURED | {Root.ARGUMENT}


class Results:
    """The results of a region."""

    def __init__(self, region: Interpreted) -> None:
        self._returned = region.summary.returns if region.mark.function is not None else None
        stores = region.observed(Event.WRITE, Event.LEAK) if self._returned is not None else ()
        self._stored = [one.effect.place for one in stores]

    def may_be_managed(self, steps: Steps = ()) -> bool:
        """Whether what some steps lead to may be, or hold, memory of the CUDA graph."""
        return any(self._holds(one) for one in self.at(steps))

    def at(self, steps: Steps = ()) -> Iterator[Value]:
        """What some steps may lead to, as far as that may be memory."""
        return _at(self._returned if self._returned is not None else UNKNOWN, steps)

    def _holds(self, value: Value, depth: int = NESTED_CONTAINERS) -> bool:
        """Whether a value is, or holds, a tensor that the region made, as far as known."""
        if value.kind in _OTHERS or value.flags & Flag.ON_CPU or self._is_given(value):
            return False
        if value.kind not in HOLDERS or value.heap is None or value.heap.open or not depth:
            return True
        held = [*value.heap.members(), *value.heap.attributes.values()]
        return not held or any(self._holds(each, depth - 1) for one in held for each in one.alternatives())

    def _is_given(self, value: Value) -> bool:
        """Whether a value is what the region is given, or reads: nothing that it stores there itself."""
        place = value.place
        if place.root not in _GIVEN or value.flags & Flag.MAYBE:
            return False
        stored = (one for one in self._stored if one[:3] == place[:3])
        return not any(may_meet(one.path, place.path) for one in stored)


def _at(value: Value, steps: Steps) -> Iterator[Value]:
    for one in value.alternatives():
        inner = _reached(one, steps[0]) if steps else None
        if inner is not None:
            yield from _at(inner, steps[1:])
        elif not steps:
            yield one


def _reached(value: Value, step: str) -> Value | None:
    """What a step leads to; None where that is no memory of the value."""
    if step == EACH:
        return _reached(value, ANY_ENTRY) if value.kind is not Kind.DICT else None
    name = step[1:] if step.startswith(".") else ""
    if value.is_tensor:
        return value if not name or is_view_attribute(name) else None
    if name and value.kind is Kind.OBJECT and value.heap is not None:
        return value.heap.attributes.get(name)  # no property, which computes
    if name and (tensor_attribute(name) is not None or tensor_method(name) is not None):
        return value if is_view_attribute(name) else None
    if value.kind not in HOLDERS or value.heap is None or value.heap.open:
        return UNKNOWN
    return value.heap.attributes.get(name, UNKNOWN) if name else _entry(value, value.heap, step)


def _entry(value: Value, heap: AbstractObject, step: str) -> Value:
    key = ast.literal_eval(step[1:-1]) if step[1:-1] else NO_CONSTANT
    fields = [*heap.attributes.values()] if value.of_class is not None and is_named_tuple(value.of_class) else []
    if fields and isinstance(key, int) and -len(fields) <= key < len(fields):
        return fields[key]
    held = heap.load(key)
    return held if held is not None else UNKNOWN
