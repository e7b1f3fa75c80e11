"""Of which dtype tensors are: boolean, floating-point, or not known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.values import NO_CONSTANT, UNKNOWN, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Operators whose result has dtype bool.
BOOLEAN_RESULTS = frozenset(
    {
        "eq",
        "ne",
        "lt",
        "le",
        "gt",
        "ge",
        "logical_not",
        "logical_and",
        "logical_or",
        "logical_xor",
        "isnan",
        "isinf",
        "isfinite",
        "isclose",
        "isin",
        "isneginf",
        "isposinf",
        "signbit",
        "isreal",
        "bool",
    }
)
#: Operators whose result is floating-point whatever they are given, if no dtype is named.
FLOATING_RESULTS = frozenset(
    [
        "ones",
        "zeros",
        "empty",
        "rand",
        "randn",
        "linspace",
        "logspace",
        "eye",
        "normal",
        "float",
        "half",
        "double",
        "bfloat16",
        "softmax",
        "sigmoid",
        "tanh",
        "mean",
        "std",
        "var",
        "exp",
    ]
)
#: Methods that return the tensor itself where it has the dtype, and is on the device, that they are asked for.
#: Source: `Tensor.to` in the documentation of torch, and the same object measured for each of them on 2.13.
CASTS = frozenset(
    {
        *("to", "type", "type_as", "float", "double", "half", "bfloat16", "cfloat", "cdouble", "long", "int", "short"),
        *("char", "byte", "bool", "cuda", "cpu"),
    }
)
#: Operators whose result has another dtype than their operands, or may have.
OTHER_TYPES = frozenset(
    [
        "argmax",
        "argmin",
        "argsort",
        "nonzero",
        "long",
        "int",
        "short",
        "char",
        "byte",
        "to",
        "searchsorted",
        "bucketize",
        "count_nonzero",
        "type",
        "type_as",
        "view",
        "sort",
        "topk",
        "max",
        "min",
        "median",
        "mode",
        "kthvalue",
        "unique",
        "bool",
        "multinomial",
        "bincount",
        "histc",
    ]
)
FLOATING_TYPES = frozenset(
    f"torch.{name}" for name in ("float", "double", "half", "bfloat16", "float16", "float32", "float64")
)
#: Operators whose result is boolean if their argument is.
KEEPS_BOOLEAN = frozenset({"to", "clone", "contiguous", "flatten", "view", "reshape", "bitwise_not"})


_BOOLEAN_TYPES = frozenset({"torch.bool", "builtins.bool"})
_MAX_DEPTH = 4


def floating(last: str, tensors: list[Value], keywords: dict[str, Value]) -> int:
    """Whether a result surely has a floating-point dtype."""
    dtype = keywords.get("dtype")
    if dtype is not None:
        return Flag.FLOATING if dtype.ref in FLOATING_TYPES else Flag.NONE
    if last in OTHER_TYPES:
        return Flag.NONE
    floating = last in FLOATING_RESULTS or any(value.flags & Flag.FLOATING for value in tensors)
    return Flag.FLOATING if floating else Flag.NONE


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
    if element is None or depth > _MAX_DEPTH:
        yield data
        return
    for member in element.alternatives():
        yield from _leaves(member, depth + 1)
