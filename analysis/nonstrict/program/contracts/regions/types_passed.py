"""Values of several types that calls pass for one parameter: Dynamo guards the type, and compiles for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Use
from nonstrict.program.domain.values import NO_CONSTANT, Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.events import How
    from nonstrict.program.domain.values import Value

OPTIONAL = "None or tensor"
_TENSOR, _NONE = "tensor", "None"
_PLAIN = {Kind.BOOL: "bool", Kind.STRING: "str", Kind.NONE: _NONE}
_NUMBERS = frozenset({"int", "float", "bool"})
#: What the table of guards calls values of several types, by what is done with them: the types that it was made with.
_MEASURED = {
    Use.ARITHMETIC: ("type", _NUMBERS | {_TENSOR}),
    Use.BRANCH: ("type of a plain value", frozenset({"int", "float", "str", _NONE})),
}
#: What can be done with a tensor that may be missing.
OF_OPTIONAL = frozenset({Use.BRANCH, Use.PARAMETER, Use.ARITHMETIC})
_SEVERAL = 2


def several(values: Iterable[Value], how: How | None) -> tuple[str, int]:
    """What the table of guards calls values of several types, and how many types these are; "" where there is one.

    Values of which the type is not known are passed over. Of numbers of NumPy the type is a dtype.
    """
    given = [*values]
    types = {_type_of(value) for value in given} - {""}
    arrays = {value.dotted for value in given if is_of_array(value)}
    if len(arrays) >= _SEVERAL and types == {_TENSOR} and how is Use.ARITHMETIC:
        return "dtype", len(arrays)
    if len(types) < _SEVERAL or not isinstance(how, Use):
        return "", 0
    if types == {_TENSOR, _NONE}:
        return (OPTIONAL, len(types)) if how in OF_OPTIONAL else ("", 0)
    kind, measured = _MEASURED.get(how, ("", frozenset[str]()))
    return (kind, len(types)) if types <= measured else ("", 0)


def is_of_array(value: Value) -> bool:
    """Whether a number is one of NumPy, which Dynamo takes for an array, and so for a tensor."""
    return value.kind is Kind.NUMBER and value.dotted.startswith("numpy.")


def _type_of(value: Value) -> str:
    if value.is_tensor or is_of_array(value):
        return _TENSOR
    if value.kind is not Kind.NUMBER:
        return _PLAIN.get(value.kind, "")
    if value.const is not NO_CONSTANT:
        return type(value.const).__name__
    return "int" if value.is_whole else "float" if value.is_real else ""
