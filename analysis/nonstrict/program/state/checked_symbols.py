"""What a body is told, or has to know, of symbols: numbers that follow from the data of tensors."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from nonstrict.events import Event, Taken
from nonstrict.program.domain import symbols
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.domain.symbols import Taint
    from nonstrict.program.state.frames import Frame

#: Functions of Python that torch knows of numbers that follow from data.
_SYMBOLIC = frozenset({"math.floor", "math.ceil", "math.trunc"})
_ROUNDING = frozenset({"builtins.abs", "builtins.round", *_SYMBOLIC})


def depends_on_data(frame: Frame, value: Value) -> bool:
    """Whether a number or truth value follows from the data of a tensor: nothing can be decided on it.

    What `torch._check` was told of is decided.
    """
    checked = frame.summary.settled
    numeric = value.kind in (Kind.NUMBER, Kind.BOOL)
    return any(
        effect.event is Event.ESCAPE and effect.key not in checked and (numeric or effect.how is Taken.ITEM)
        for effect in value.taint
    )


def told(frame: Frame, node: ast.AST, given: Sequence[Value], keywords: dict[str, Value]) -> None:
    """`torch._check` is told of numbers: of their limits, or with an equation which number something is."""
    keys = {one.key for value in given for one in symbols.of(value)}
    summary = frame.summary
    summary.checked.update(keys)
    if not isinstance(node, ast.Call) or not node.args:
        return
    condition = node.args[0]
    if not isinstance(condition, ast.Compare):
        summary.floored.update(keys)
        summary.capped.update(keys if "max" in keywords or isinstance(condition, ast.BoolOp) else ())
        return
    if isinstance(condition.ops[0], ast.Eq):
        summary.known.update(keys)
    if len(condition.ops) > 1 or not isinstance(condition.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        summary.floored.update(keys)
        summary.capped.update(keys)
        return
    _limited(frame, condition)


def _limited(frame: Frame, condition: ast.Compare) -> None:
    """A comparison with one operator sets a number a lower or an upper limit."""
    more = isinstance(condition.ops[0], (ast.Gt, ast.GtE))
    for side, other, least in (
        (condition.left, condition.comparators[0], more),
        (*condition.comparators, None, not more),
    ):
        keys = {one.key for one in symbols.of(frame.machine.evaluate(frame, side))}
        limit = frame.machine.evaluate(frame, condition.left if other is None else other).const
        if not least:
            frame.summary.capped.update(keys)
        elif not isinstance(limit, int) or limit >= -1:
            frame.summary.floored.update(keys)


def computed(frame: Frame, name: str, values: Sequence[Value]) -> Taint:
    """What a function of Python leaves of numbers; those that torch does not know need the numbers themselves."""
    if name.startswith("math.") and name not in _SYMBOLIC:
        for value in values:
            frame.needed(value, exactly=True)
    rounds = name in _ROUNDING and not frame.region
    return frozenset[Any]().union(
        *(symbols.rounded(value) if rounds else value.taint | symbols.held_in(value) for value in values)
    )
