"""Tensors that torch knows while tracing, as they are made of literals: it computes with them at once.

It keeps no more than one element (`CONSTANT_NUMEL_LIMIT` in `torch/_subclasses/fake_tensor.py`), until something that
it does not know is written into the tensor.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, TENSORS, AbstractObject, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.state.frames import Frame

#: The sizes of what has no more than one element; -1 stands for what is left.
_SINGLE = (0, 1, -1)


def is_known(value: Value) -> bool:
    """Whether torch knows a tensor, or each element of a list, while tracing."""
    if value.kind in TENSORS:
        return bool(value.flags & Flag.LITERAL) and value.place.root is Root.FRESH
    if value.heap is not None:
        told = value.flags & Flag.LITERAL and not value.heap.open and value.heap.loose is None
        return bool(told) and all(map(is_known, value.heap.items.values()))
    return value.const is not NO_CONSTANT or bool(value.flags & Flag.LITERAL) or value.dotted.startswith("torch.")


def is_single(data: Value) -> bool:
    """Whether a number, or a list, maybe a nested one, has no more than one element."""
    items = list(data.heap.items.values()) if data.heap is not None else []
    return len(items) <= 1 and all(is_single(item) for item in items)


def literals(*operands: Value) -> int:
    """Whether torch knows what Python's operators give while tracing, as it knows the operands, wherever they live."""
    told = all(bool(one.flags & Flag.LITERAL) if one.kind in TENSORS else is_known(one) for one in operands)
    return Flag.LITERAL if told else Flag.NONE


def folds(operator: Operator, positional: Sequence[Value], keywords: dict[str, Value]) -> bool:
    """Whether torch knows the result of an operator while tracing, as it knows all its arguments."""
    given = [*positional[1:], *keywords.values()]
    if not operator.folds and not (operator.folds_tensors and all(one.is_tensor for one in given)):
        return False
    if not is_single(positional[0]):
        return False
    shape = given[:1] if operator.sized and not operator.spread else given
    grows = operator.takes_sizes and any(one.const not in _SINGLE for one in _numbers(shape))
    return not grows and is_known(positional[0]) and all(map(is_known, given))


def _numbers(given: Iterable[Value]) -> Iterator[Value]:
    for value in given:
        if value.heap is not None:
            yield from _numbers(value.heap.items.values())
        elif value.kind is Kind.NUMBER:
            yield value


def known(result: Value) -> Value:
    """A result that torch knows, or each of several."""
    if result.heap is None:
        return result._replace(flags=result.flags | Flag.LITERAL) if result.is_tensor else result
    made = AbstractObject()
    made.items = {key: known(one) for key, one in result.heap.items.items()}
    made.element = known(result.heap.element) if result.heap.element is not None else None
    return result._replace(heap=made)


def forget(frame: Frame, node: ast.AST | None) -> None:
    """Something that torch does not know was written into what an expression names."""
    before = frame.env.get(node.id) if isinstance(node, ast.Name) else None
    if isinstance(node, ast.Name) and before is not None and before.kind in TENSORS:
        frame.env[node.id] = before._replace(flags=before.flags & ~Flag.LITERAL)
