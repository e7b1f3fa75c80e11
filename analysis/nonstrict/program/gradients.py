"""What `torch.autograd.grad` gives, and the tensors of lists that optimizers and the like hand over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.endings import asks_for_none
from nonstrict.program.frames import relocated
from nonstrict.program.places import Origin
from nonstrict.program.values import NONE, TENSOR, UNKNOWN, Kind, Value, holding, join

if TYPE_CHECKING:
    from nonstrict.program.frames import Frame


def computed(frame: Frame, keywords: dict[str, Value]) -> Value:
    """A tuple of gradients; with `allow_unused` None for what the outputs do not depend on.

    Which these are is not known: a function that asks one for None is taken to know it.
    """
    materialized = keywords.get("materialize_grads", UNKNOWN).const is True
    asked = frame.function is not None and asks_for_none(frame.function.node)
    unused = keywords.get("allow_unused", UNKNOWN).const is True and not materialized and not asked
    return holding(Kind.TUPLE, join(TENSOR, NONE) if unused else TENSOR)


def of_list(value: Value) -> Value:
    """The tensors that a list of them holds: `_foreach_add_(PARAMETERS, 1.0)` changes all of them."""
    held = value.heap.element if value.kind in (Kind.LIST, Kind.TUPLE) and value.heap is not None else None
    if held is None or not held.is_tensor:
        return value
    return held if value.place.origin is Origin.FRESH else relocated(held, value.place.step("[]"))
