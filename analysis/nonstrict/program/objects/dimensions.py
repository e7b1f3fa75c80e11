"""Which tensors surely have no dimensions: they take part in arithmetic as numbers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.values import UNKNOWN, Flag, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.knowledge.operators import Operator

_NUMBERS = frozenset({Kind.NUMBER, Kind.BOOL})
#: Arguments that are no operands: where and as what a result is made, and how it is computed.
_SETTINGS = frozenset({Kind.SETTING, Kind.STRING, Kind.NONE, Kind.EXTERNAL})
_OF_CALLS = Flag.SCALAR | Flag.ON_CPU
#: What `where` chooses by, and from: with less it selects.
_CHOICE = 3


def broadcast(values: Sequence[Value]) -> int:
    """`Flag.SCALAR` for a tensor that is computed element by element of such tensors and of numbers."""
    return Flag.SCALAR if all(value.flags & Flag.SCALAR or value.kind in _NUMBERS for value in values) else Flag.NONE


def of_result(operator: Operator, last: str, positional: Sequence[Value], keywords: dict[str, Value]) -> int:
    """`Flag.SCALAR` for the tensor that an operator gives, if it surely has no dimensions."""
    first = positional[0] if positional else keywords.get("input", UNKNOWN)
    if operator.reduces and len(positional) == 1 and keywords.keys() <= {"dtype"}:
        return Flag.SCALAR
    if operator.keeps_shape:
        return first.flags & Flag.SCALAR
    if operator.of_data:
        return Flag.SCALAR if first.kind in _NUMBERS else Flag.NONE
    if not operator.pointwise and not (last == "where" and len(positional) == _CHOICE):
        return Flag.NONE
    return broadcast([one for one in (*positional, *keywords.values()) if one.kind not in _SETTINGS])


def of_any_number(value: Value) -> Value:
    """A parameter: calls are not told apart by how many dimensions the tensors have that they pass, and where."""
    return value._replace(flags=value.flags & ~_OF_CALLS) if value.flags & _OF_CALLS else value
