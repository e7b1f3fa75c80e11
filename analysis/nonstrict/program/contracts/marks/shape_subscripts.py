"""Which shape a part of a tensor has that a subscript takes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.program.domain.shape_rules import UNKNOWN, Tensor, is_size, items
from nonstrict.program.domain.shape_terms import ImpossibleError, Size, term

if TYPE_CHECKING:
    from collections.abc import Callable


def subscript(
    value: Any, index: ast.expr, evaluate: Callable[[ast.expr], Any], is_mask: Callable[[ast.expr], bool | None]
) -> Any:
    """What an index takes of a tensor or a sequence; `is_mask` tells which tensors select where they are true."""
    sequence = items(value)
    if sequence is not None:
        return _of_sequence(sequence, index, evaluate)
    if not isinstance(value, Tensor) or value.dims is None:
        return UNKNOWN if isinstance(value, Tensor) else None
    parts = list(index.elts) if isinstance(index, ast.Tuple) else [index]
    chosen = evaluate(index) if len(parts) == 1 else None
    if isinstance(chosen, Tensor):
        return _chosen(value.dims, chosen, is_mask(index))
    return _of_tensor(value.dims, parts, evaluate)


def _of_sequence(values: list[Any], index: ast.expr, evaluate: Callable[[ast.expr], Any]) -> Any:
    if isinstance(index, ast.Slice):
        bounds = [evaluate(one) if one is not None else None for one in (index.lower, index.upper)]
        told = [one for one in (index.lower, index.upper) if one is not None]
        if index.step is not None or len([one for one in bounds if isinstance(one, int)]) < len(told):
            return None
        return values[slice(*bounds)]
    at = evaluate(index)
    if not isinstance(at, int):
        return None
    if not -len(values) <= at < len(values):
        raise ImpossibleError
    return values[at]


def _of_tensor(dims: tuple[Size | None, ...], parts: list[ast.expr], evaluate: Callable[[ast.expr], Any]) -> Tensor:
    taken = sum(not _is_none(one) and not _is_dots(one) for one in parts)
    if taken > len(dims):
        raise ImpossibleError
    result: list[Size | None] = []
    at = 0
    for part in parts:
        if _is_none(part):
            result.append(1)
        elif _is_dots(part):
            more = len(dims) - taken
            result += dims[at : at + more]
            at += more
        elif isinstance(part, ast.Slice):
            result.append(_cut(dims[at], part, evaluate))
            at += 1
        elif is_size(evaluate(part)):
            at += 1
        else:
            return UNKNOWN
    return Tensor((*result, *dims[at:]))


def _chosen(dims: tuple[Size | None, ...], by: Tensor, masked: bool | None) -> Tensor:
    """The parts of a tensor whose places another one holds, or that a mask selects."""
    if by.dims is None or masked is None:
        return UNKNOWN
    if not masked and not dims:
        raise ImpossibleError
    return Tensor((None, *dims[len(by.dims) :]) if masked else (*by.dims, *dims[1:]))


def _cut(size: Size | None, part: ast.Slice, evaluate: Callable[[ast.expr], Any]) -> Size | None:
    """The size of a slice, where its bounds lie within."""
    lower = evaluate(part.lower) if part.lower is not None else 0
    step = evaluate(part.step) if part.step is not None else 1
    upper = evaluate(part.upper) if part.upper is not None else size
    if not isinstance(lower, int) or not isinstance(step, int) or step < 1:
        return None
    if part.upper is not None and not (isinstance(upper, int) and upper < 0):
        # A bound may lie behind the end, or be negative.
        return None
    end = term("Add", size, upper) if part.upper is not None else size
    start = term("Add", size, lower) if lower < 0 else lower
    length = term("Sub", end, start)
    return length if step == 1 else term("FloorDiv", term("Add", length, step - 1), step)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _is_dots(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is ...
