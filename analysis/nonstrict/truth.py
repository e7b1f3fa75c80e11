"""Three-valued truth: a condition holds, does not hold, or is open (None)."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def negated(verdict: bool | None) -> bool | None:
    """The opposite; what is open stays open."""
    return None if verdict is None else not verdict


def of_condition(
    test: ast.expr, judge: Callable[[ast.expr], bool | None], *, reached_only: bool = False
) -> bool | None:
    """Whether a condition holds, where `judge` tells it of the parts that `not`, `and` and `or` join.

    One part that decides is enough: `x or True` holds. With `reached_only` it has to be sure that the part is asked:
    `x or True` is as open as `x`, for where the question itself is what matters.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return negated(of_condition(test.operand, judge, reached_only=reached_only))
    if not isinstance(test, ast.BoolOp):
        return judge(test)
    decisive = isinstance(test.op, ast.Or)
    is_open = False
    for part in test.values:
        verdict = of_condition(part, judge, reached_only=reached_only)
        if verdict is decisive:
            return None if is_open and reached_only else decisive  # what follows is not asked
        is_open = is_open or verdict is None
    return None if is_open else not decisive
