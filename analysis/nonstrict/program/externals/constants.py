"""Tensors made of literals: torch computes with them while tracing, as long as they have a single element."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, TENSORS, Flag, Value

if TYPE_CHECKING:
    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.state.frames import Frame

#: The sizes of what has one element; -1 stands for what is left.
_ONE = (1, -1)


def is_single(data: Value) -> bool:
    """Whether a literal, maybe a nested one, has no more than one element."""
    items = list(data.heap.items.values()) if data.heap is not None else []
    return len(items) <= 1 and all(is_single(item) for item in items)


def folds(frame: Frame, operator: Operator, positional: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether torch knows the result of an operator while tracing, as it knows all its arguments.

    It keeps no more than one element (`CONSTANT_NUMEL_LIMIT` in `torch/_subclasses/fake_tensor.py`).
    """
    given = [*positional[1:], *keywords.values()]
    grows = operator.takes_sizes and not all(value.const in _ONE for value in given)
    if frame.region or grows or not operator.folds:
        return False
    return all(_is_known(value) for value in (*positional, *keywords.values()))


def _is_known(value: Value) -> bool:
    if value.kind in TENSORS:
        return bool(value.flags & Flag.LITERAL) and value.place.root is Root.FRESH
    return value.const is not NO_CONSTANT or value.dotted.startswith("torch.")
