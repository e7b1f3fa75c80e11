"""Of which dtype tensors are: boolean, floating-point, or not known."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import torch_kind
from nonstrict.program.domain.values import NESTED_CONTAINERS, NO_CONSTANT, UNKNOWN, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.knowledge.operators import Operator

#: What is known of dtypes.
KNOWN = Flag.BOOLEAN | Flag.FLOATING
#: Operators whose result has the dtype that an argument names, or that of another tensor.
ASKED = frozenset({"to", "type", "type_as", "view"})
FLOATING_TYPES = frozenset(
    f"torch.{name}" for name in ("float", "double", "half", "bfloat16", "float16", "float32", "float64")
)
#: The operands of which the result has the dtype, where they agree: of operators of which the columns do not say so, as
#: it is not the first. Source: each of them, called with tensors of dtype bool, on 2.13.
_DECIDING = {"where": slice(1, 3), "full": slice(1, 2), "type_as": slice(1, 2)}
#: The same of the first one: they may also be told a dtype.
_FIRST = frozenset({"new_tensor", "to", "view"})
#: Division and powers of truth values are numbers.
_OF_TRUTHS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Add, ast.Mult)
_BOOLEAN_TYPES = frozenset({"torch.bool", "builtins.bool"})


def of_result(operator: Operator, last: str, positional: list[Value], keywords: dict[str, Value]) -> int:
    """What is known of the dtype of the only result of an operator, or of all its pieces."""
    if _is_boolean(operator, last, positional, keywords):
        return Flag.BOOLEAN
    return _floating(operator, last, positional, keywords)


def _floating(operator: Operator, last: str, positional: list[Value], keywords: dict[str, Value]) -> int:
    """Whether a result surely has a floating-point dtype."""
    dtype = keywords.get("dtype")
    if dtype is not None:
        return Flag.FLOATING if dtype.dotted in FLOATING_TYPES else Flag.NONE
    given = len(positional)
    if operator.gives_floating(given, keywords):
        return Flag.FLOATING
    if last in ASKED:
        return Flag.NONE
    told = operator.result_dtype("float32", given, keywords)
    first = positional[0] if positional else keywords.get("input", UNKNOWN)
    if told:
        return first.flags & Flag.FLOATING if told == "float32" else Flag.NONE
    tensors = (value for value in (*positional, *keywords.values()) if value.is_tensor)
    return Flag.FLOATING if any(value.flags & Flag.FLOATING for value in tensors) else Flag.NONE


def _is_boolean(operator: Operator, last: str, positional: list[Value], keywords: dict[str, Value]) -> bool:
    """Whether a result surely has dtype bool."""
    asked = keywords.get("dtype", next(filter(is_dtype, positional[1:]), None))
    if asked is not None:
        return asked.dotted in _BOOLEAN_TYPES
    first = positional[0] if positional else keywords.get("input", UNKNOWN)
    of = "bool" if first.flags & Flag.BOOLEAN else ""
    if operator.result_dtype(of, len(positional), keywords) == "bool":
        return True
    by_first = operator.cuts or operator.joins or last in _FIRST
    deciding = positional if operator.promotes else positional[:1] if by_first else []
    if last in _DECIDING:
        deciding = positional[_DECIDING[last]]
    if last == "to" and len(positional) > 1 and positional[1].is_tensor:
        deciding = positional[1:2]
    return bool(deciding) and all(holds_truths(one) for one in deciding)


def is_dtype(value: Value) -> bool:
    """Whether a value is a dtype of torch."""
    return isinstance(value.ref, str) and value.kind is Kind.SETTING and torch_kind(value.ref) == "dtype"


def holds_truths(value: Value) -> bool:
    """Whether a value is a tensor of dtype bool, a truth value, or a list of such."""
    return all(bool(one.flags & Flag.BOOLEAN) or _is_truth_value(one) for one in _leaves(value))


def stays_boolean(operator: ast.operator, left: Value, right: Value) -> bool:
    """Whether an operator of Python gives tensors of dtype bool for what are such, or truth values."""
    return isinstance(operator, _OF_TRUTHS) and holds_truths(left) and holds_truths(right)


def like(tensor: Value, other: Value) -> Value:
    """A tensor of which is known that it is of the dtype of another one as well."""
    return tensor._replace(flags=tensor.flags | other.flags & KNOWN)


def registered(given: Value) -> Value:
    """A buffer: a tensor of the dtype of what it is made of, tracked by its module."""
    return Value(Kind.TENSOR, flags=Flag.REGISTERED | given.flags & KNOWN)


def of_data(data: Value, keywords: dict[str, Value]) -> int:
    """What is known of the dtype of a tensor made of some data: one float among its numbers makes it floating-point."""
    dtype = keywords.get("dtype", UNKNOWN).ref
    if dtype is not None:
        return Flag.BOOLEAN if dtype in _BOOLEAN_TYPES else Flag.FLOATING if dtype in FLOATING_TYPES else Flag.NONE
    if "dtype" in keywords:
        return Flag.NONE
    values = [data, *(data.heap.items.values() if data.heap is not None else ())]
    if any(isinstance(value.const, float) for value in values):
        return Flag.FLOATING
    return Flag.BOOLEAN if all(map(_is_truth_value, _leaves(data))) else Flag.NONE


def _is_truth_value(value: Value) -> bool:
    return value.kind is Kind.BOOL and (value.const is NO_CONSTANT or isinstance(value.const, bool))


def _leaves(data: Value, depth: int = 0) -> Iterator[Value]:
    """What nested lists and tuples hold at the bottom; the list itself where that is not known."""
    element = data.heap.element if data.heap is not None and data.kind in (Kind.LIST, Kind.TUPLE) else None
    if element is None or depth > NESTED_CONTAINERS:
        yield data
        return
    for member in element.alternatives():
        yield from _leaves(member, depth + 1)
