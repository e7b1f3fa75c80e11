"""Conditions that Dynamo decides while it traces a region: it follows one branch and never sees the other."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.program.contracts.regions import fields
from nonstrict.program.domain import constant_folding
from nonstrict.program.domain.values import CALLABLES, NO_CONSTANT, Flag, Kind
from nonstrict.program.interpret import decided, expressions
from nonstrict.truth import of_condition

if TYPE_CHECKING:
    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.frames import Frame

_OPEN = frozenset({Kind.UNKNOWN, Kind.UNION, Kind.NONE})


def truth(frame: Frame, test: ast.expr) -> bool | None:
    """Whether a condition holds, from constants that nothing rebinds; None where that is open."""
    return of_condition(test, partial(_of_part, frame), reached_only=True)


def _of_part(frame: Frame, test: ast.expr) -> bool | None:
    if isinstance(test, ast.Compare):
        return _of_comparison(frame, test)
    return of_value(frame, fields.default(frame, test) or expressions.evaluate(frame, test))


def of_value(frame: Frame, value: Value) -> bool | None:
    """The truth of a value."""
    if value.const is not NO_CONSTANT:
        return None if frame.machine.mutations.is_rebound(value.place) else bool(value.const)
    return True if decided.is_callable(value) else None


def _may_be_none(value: Value) -> bool:
    return value.kind in _OPEN or (value.kind in CALLABLES and not decided.is_callable(value))


def _of_comparison(frame: Frame, test: ast.Compare) -> bool | None:
    """Comparisons with None, and of two constants."""
    if len(test.ops) != 1:
        return None
    operator = test.ops[0]
    left = expressions.evaluate(frame, test.left)
    right = expressions.evaluate(frame, test.comparators[0])
    if isinstance(operator, (ast.Is, ast.IsNot)) and right.kind is Kind.NONE:
        alternatives = left.alternatives()
        if all(one.kind is Kind.NONE for one in alternatives):
            return isinstance(operator, ast.Is)
        given = not left.flags & Flag.OPTIONAL and not any(_may_be_none(one) for one in alternatives)
        return isinstance(operator, ast.IsNot) if given else None
    if isinstance(operator, (ast.Eq, ast.NotEq)) and right.kind is Kind.NONE and left.is_tensor:
        return isinstance(operator, ast.NotEq)
    if any(frame.machine.mutations.is_rebound(value.place) for value in (left, right)):
        return None
    return constant_folding.compared(operator, left, right)
