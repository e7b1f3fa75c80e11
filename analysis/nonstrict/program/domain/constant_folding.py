"""What operators make of values that are constants: whole numbers computed, constants compared."""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING

from nonstrict.facts.comparing import COMPARISONS
from nonstrict.program.domain.values import CONTAINERS, NO_CONSTANT, NUMBER, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.program.domain.access_paths import AccessPath

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda one, other: one // other,
    ast.Mod: operator.mod,
}
_ORDERING = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
#: Larger numbers count nothing that is known one by one.
_MAX_NUMBER = 1 << 20


def computed(is_rebound: Callable[[AccessPath], bool], by: ast.operator, left: Value, right: Value) -> Value | None:
    """The whole number that arithmetic on two known ones gives; None where that is not known."""
    compute = _ARITHMETIC.get(type(by))
    one, other = left.const, right.const
    if compute is None or type(one) is not int or type(other) is not int or max(abs(one), abs(other)) > _MAX_NUMBER:
        return None
    if not other and isinstance(by, (ast.FloorDiv, ast.Mod)):
        return None
    if is_rebound(left.place) or is_rebound(right.place):
        return None
    return NUMBER._replace(const=compute(one, other))


def truth(is_rebound: Callable[[AccessPath], bool], value: Value) -> bool | None:
    """Whether a constant is true; None where the value is not known, or may be another one by then."""
    return None if value.const is NO_CONSTANT or is_rebound(value.place) else bool(value.const)


def key_of(value: Value) -> tuple[str, str] | None:
    """A constant, told apart from those of other types that are equal to it; None where the value is not known."""
    return None if value.const is NO_CONSTANT else (type(value.const).__name__, repr(value.const))


def compared(by: ast.cmpop, left: Value, right: Value) -> bool | None:
    """The outcome of comparing two constants, or of looking for one among others; None where that is not known."""
    if isinstance(by, (ast.In, ast.NotIn)):
        return _among(left, right, isinstance(by, ast.In))
    one, other = left.const, right.const
    if one is NO_CONSTANT or other is NO_CONSTANT:
        return None
    if isinstance(by, (ast.Eq, ast.NotEq)):
        return (one == other) is isinstance(by, ast.Eq)
    alike = all(isinstance(const, (int, float)) for const in (one, other)) or (type(one) is type(other) is str)
    return COMPARISONS[type(by)](one, other) if alike and isinstance(by, _ORDERING) else None


def _among(sought: Value, container: Value, expected: bool) -> bool | None:
    heap = container.heap
    if sought.const is NO_CONSTANT or heap is None or container.place.captured or heap.unsure or heap.open:
        return None
    if heap.loose is not None or container.kind not in CONTAINERS | {Kind.TUPLE}:
        return None
    held = list(heap.items) if container.kind is Kind.DICT else [value.const for value in heap.items.values()]
    if not held or NO_CONSTANT in held:
        return None
    return (sought.const in held) is expected
