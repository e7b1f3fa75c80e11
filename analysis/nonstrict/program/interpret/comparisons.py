"""Comparisons: which object something is, what it holds, what it contains."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Step, Taken
from nonstrict.program.domain import constant_folding, symbols
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import (
    BOOL,
    CONTAINERS,
    TENSORS,
    UNKNOWN,
    Flag,
    Kind,
    Value,
    became_tensor,
    is_array,
    join,
)
from nonstrict.program.objects import asked_types, classes, deciding, dimensions, known_tensors, placement, releases

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

_NO_TAINT: frozenset[object] = frozenset()
_IDENTITY = (ast.Is, ast.IsNot)
_HOLDING = CONTAINERS | {Kind.OBJECT, Kind.INSTANCE, Kind.ITERATOR}
_COMPARING: dict[type[ast.cmpop], str] = {
    ast.Eq: "__eq__",
    ast.NotEq: "__eq__",
    ast.Lt: "__lt__",
    ast.LtE: "__le__",
    ast.Gt: "__gt__",
    ast.GtE: "__ge__",
    ast.In: "__contains__",
    ast.NotIn: "__contains__",
}


def compare(frame: Frame, node: ast.Compare) -> Value:
    """The value of a comparison."""
    operands = [node.left, *node.comparators]
    if all(isinstance(operator, _IDENTITY) for operator in node.ops):
        for operand in operands:
            _identify(frame, operand, frame.machine.evaluate(frame, operand))
        asked_types.compared_types(frame, node)
        return BOOL
    asked_types.compared_types(frame, node)
    membership = any(isinstance(operator, (ast.In, ast.NotIn)) for operator in node.ops)
    values = [frame.machine.evaluate(frame, operand) for operand in operands]
    if len(values) == 2 and (known := releases.compared(node.ops[0], *values)) is not None:
        return known
    return _of_values(frame, node, values, membership=membership)


def _of_values(frame: Frame, node: ast.Compare, values: list[Value], *, membership: bool) -> Value:
    answer = _by_methods(frame, node, values)
    for operand, value in zip([node.left, *node.comparators], values, strict=True):
        if not (membership and frame.initialises(value)):
            frame.consume(operand, value)
    taint = _carried(frame, node, values)
    if membership:
        return _sought(frame, node, values, taint)
    if answer is not None and answer.is_tensor and len(values) == 2:
        return answer
    if len(values) == 2 and _is_never_equal(node.ops[0], *values):
        return BOOL.with_taint(taint)
    if any(value.kind in TENSORS for value in values):
        for value in values:
            frame.sink(value)
        if len(node.ops) > 1:
            return _chained(frame, node, values[0])
        kept = _NO_TAINT.union(*(value.taint for value in values if value.kind in TENSORS))
        literal = known_tensors.literals(*values)
        flags = Flag.BOOLEAN | literal | (_either(values) & Flag.ATTACHED)
        flags |= dimensions.broadcast(values) | placement.elementwise(values)
        return Value(Kind.TENSOR, FRESH, flags=flags, taint=kept)
    if (known := _of_constants(frame, node, values)) is not None:
        return known.with_taint(taint)
    found = _of_numbers(frame, values).with_taint(taint)
    return join(Value(Kind.TENSOR, FRESH), found) if frame.region and any(map(became_tensor, values)) else found


def _carried(frame: Frame, node: ast.Compare, values: list[Value]) -> frozenset[object]:
    """What the answer of a comparison carries."""
    taint: frozenset[object] = _NO_TAINT.union(*(value.taint for value in values))
    if not frame.region:
        if len(values) == 2 and symbols.is_settled(node.ops[0], *values):
            return frozenset(one for value in values for one in symbols.beside(value))
        of_numbers = bool(taint) and not any(value.kind in TENSORS for value in values)
        return symbols.compared(taint) if of_numbers else taint
    return _NO_TAINT if len(values) == 2 and symbols.is_known(node.ops[0], *values) else taint


def _either(values: list[Value]) -> int:
    """The flags that any of some values has."""
    flags = Flag.NONE
    for value in values:
        flags |= value.flags
    return flags


def _sought(frame: Frame, node: ast.Compare, values: list[Value], taint: frozenset[object]) -> Value:
    """`x in xs`."""
    if any(value.kind is Kind.EXTERNAL and value.dotted == "os.environ" for value in values):
        frame.emit(Event.AMBIENT, node, value=values[0], what="reads the environment")
    if values[-1].is_tensor and not (frame.static or frame.region):
        deciding.on_value(frame, node, values[-1])
    if frame.region and values[-1].is_tensor:
        return BOOL.with_taint(frame.unbacked(node, values[-1], "`item()`", Taken.ITEM).taint)
    return frame.observer.sought(frame, node, values[0], values[-1]) or BOOL.with_taint(taint)


def _is_never_equal(operator: ast.cmpop, left: Value, right: Value) -> bool:
    """Whether a tensor is compared with None or with text: it does not know how, so Python says that they differ."""
    other = right if left.kind in TENSORS else left
    equality = isinstance(operator, (ast.Eq, ast.NotEq)) and (left.kind in TENSORS) is not (right.kind in TENSORS)
    return equality and (other.kind is Kind.NONE or (other.kind is Kind.STRING and other.ref is None))


def _of_numbers(frame: Frame, values: list[Value]) -> Value:
    """A truth value, where no operand is a tensor as far as is known; arrays are compared as tensors are."""
    if frame.region and any(is_array(value) for value in values):
        return Value(Kind.NUMPY)
    if any(value.flags & Flag.SHAPE for value in values):
        return Value(Kind.BOOL, FRESH, flags=Flag.SHAPE)
    # What is not known outside a body may be a tensor, and its comparison another one.
    return UNKNOWN if frame.static and any(value.kind is Kind.UNKNOWN for value in values) else BOOL


def _of_constants(frame: Frame, node: ast.Compare, values: list[Value]) -> Value | None:
    """The outcome of comparing two constants that were computed here, where code is followed call by call."""
    plain = all(value.place == FRESH for value in values)
    if not plain or len(values) != 2 or not (frame.static or frame.region):
        return None
    known = constant_folding.compared(node.ops[0], *values)
    return None if known is None else BOOL._replace(const=known)


def _identify(frame: Frame, node: ast.expr, value: Value) -> None:
    """Which object this is is asked for, not what it holds."""
    frame.observer.identified(frame, node, value)
    if value.kind in _HOLDING and not value.place.path:
        frame.identified(node, value)
    elif value.kind not in TENSORS and value.kind is not Kind.MODULE and not frame.initialises(value):
        frame.consume(node, value)


def _by_methods(frame: Frame, node: ast.Compare, values: list[Value]) -> Value | None:
    """Run the methods by which objects of the program compare themselves, or say what they contain: the last answer."""
    answer: Value | None = None
    for index, operator in enumerate(node.ops):
        left, right = values[index], values[index + 1]
        name = _COMPARING.get(type(operator))
        asked, other = (right, left) if name == "__contains__" else (left, right)
        if name is not None:
            answer = classes.special(frame, node, asked, name, [other])
    return answer


def _chained(frame: Frame, node: ast.Compare, first: Value) -> Value:
    """`0 < x < 1` of tensors asks for the truth of the first comparison."""
    frame.emit(Event.ESCAPE, node, FRESH, first, "a chained comparison of tensors")
    frame.observer.came_to(frame, node, Step.CHAINED_COMPARISON)
    return Value(Kind.TENSOR, FRESH, flags=Flag.BOOLEAN)
