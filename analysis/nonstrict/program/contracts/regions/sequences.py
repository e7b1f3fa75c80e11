"""Sequences in a region: Dynamo sorts by constants only, and goes through what has a length that it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Taken
from nonstrict.program.contracts.regions import breaks
from nonstrict.program.domain import symbols
from nonstrict.program.domain.values import Kind, Value, became_tensor

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame

_SORTED = "arg:builtins.sorted:"
_EXTREME = "arg:builtins.max:tensors-key"


def sorted_by(frame: Frame, node: ast.AST, compared: Value) -> None:
    """Elements are sorted by a value that each has, the element itself if there is no key."""
    first = compared
    if compared.kind is Kind.TUPLE and compared.heap is not None:
        first = compared.heap.items.get(0, compared)
    if _may_be_tensor(first):
        breaks.emit(frame, node, f"{_SORTED}key-tensor")
    elif first.kind is Kind.NUMBER and any(effect.how in symbols.NUMBERS for effect in first.taint):
        breaks.emit(frame, node, f"{_SORTED}key-item")


def extreme_by(frame: Frame, node: ast.AST, element: Value, compared: Value) -> None:
    """`max(elements, key=...)`: only constants are compared by a key, whatever the key makes of them."""
    if _may_be_tensor(compared) or any(_holds_tensor(one) for one in element.alternatives()):
        breaks.emit(frame, node, _EXTREME)


def iterated(frame: Frame, node: ast.AST, iterable: Value) -> None:
    """The elements of a tensor are asked for one by one: there is no telling how many a selection has."""
    if not iterable.is_tensor:
        return
    if any(effect.event is Event.ESCAPE and effect.how is not Taken.ITEM for effect in iterable.taint):
        breaks.statement(frame, node, "for-range-item")


def _may_be_tensor(value: Value) -> bool:
    return value.is_tensor or became_tensor(value)


def _holds_tensor(element: Value) -> bool:
    if element.is_tensor or element.heap is None:
        return element.is_tensor
    held = [*element.heap.items.values(), *element.heap.attributes.values()]
    return any(value.is_tensor for value in held)
