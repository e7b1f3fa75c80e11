"""What `torch.autograd.grad` gives, and the tensors of lists that optimizers and the like hand over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.fallthrough import asks_for_none
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import (
    NONE,
    TENSOR,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    holding,
    join,
    relocated,
    without_gradients,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.state.frames import Frame


def computed(frame: Frame, keywords: dict[str, Value]) -> Value:
    """A tuple of gradients; with `allow_unused` None for what the outputs do not depend on.

    Which these are is not known: a function that asks one for None is taken to know it.
    """
    materialized = keywords.get("materialize_grads", UNKNOWN).const is True
    asked = frame.function is not None and asks_for_none(frame.function.node)
    unused = keywords.get("allow_unused", UNKNOWN).const is True and not materialized and not asked
    return holding(Kind.TUPLE, join(TENSOR, NONE) if unused else TENSOR)


def switched(positional: Sequence[Value], keywords: dict[str, Value]) -> bool | None:
    """Whether `requires_grad_(...)` turns gradients on or off; None where that is not known."""
    given = keywords.get("requires_grad", positional[0] if positional else None)
    if given is None:
        return True
    return given.const if isinstance(given.const, bool) else None


def asked_for(keywords: dict[str, Value]) -> bool:
    """Whether a call that makes a tensor is told that it needs gradients."""
    return keywords.get("requires_grad", UNKNOWN).const is True


def needing(tensor: Value) -> Value:
    """A tensor that needs gradients."""
    return tensor._replace(flags=tensor.flags | Flag.GRADIENT)


def told(value: Value, name: str, positional: Sequence[Value], keywords: dict[str, Value]) -> Value:
    """A tensor or module behind a method that returns it: `requires_grad_(...)` says whether it needs gradients."""
    on = switched(positional, keywords) if name == "requires_grad_" else None
    if on is None:
        return value
    needs = on and value.kind is Kind.TENSOR
    return needing(value) if needs else value if on else without_gradients(value)


def of_list(value: Value) -> Value:
    """The tensors that a list of them holds: `_foreach_add_(PARAMETERS, 1.0)` changes all of them."""
    held = value.heap.element if value.kind in (Kind.LIST, Kind.TUPLE) and value.heap is not None else None
    if held is None or not held.is_tensor:
        return value
    return held if value.place.root is Root.FRESH else relocated(held, value.place.step("[]"))


def cut(tensor: Value) -> Value:
    """A tensor that autograd does not connect with what was made to require gradients."""
    return tensor.with_taint(frozenset(effect for effect in tensor.taint if effect.event is not Event.BREAK))
