"""Statements that go on from the value of what they set, by a number: `step += 1`, `lr = lr * gamma`.

A bound may bring it to rest: `eps = max(0.05, eps * 0.9)`.
"""

from __future__ import annotations

import ast
import operator
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.reaching import last_before
from nonstrict.facts.steps import steps_of
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import NUMBER, UNKNOWN, Flag, Kind, Value
from nonstrict.program.interpret.makers import made_by
from nonstrict.program.objects import naming
from nonstrict.program.objects.parameters import default_nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nonstrict.program.state.frames import Frame

Loop = ast.For | ast.AsyncFor | ast.While
#: Numbers by which an operator changes nothing, or makes the same of everything.
_NEUTRAL: Mapping[type[ast.operator], tuple[float, ...]] = {
    **dict.fromkeys((ast.Add, ast.Sub, ast.LShift, ast.RShift, ast.BitOr, ast.BitXor), (0,)),
    **dict.fromkeys((ast.Mult, ast.Pow), (0, 1)),
    **dict.fromkeys((ast.Div, ast.FloorDiv), (1,)),
}
_EITHER_SIDE = (ast.Add, ast.Mult)
#: Operators that come back to a number from which they went.
_RETURNING = (ast.Mod, ast.BitAnd, ast.BitOr, ast.BitXor)
_BOUNDS = frozenset({"builtins.min", "builtins.max"})
_COMPUTED: Mapping[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
    ast.Mult: lambda one, other: one * other,
    ast.Div: lambda one, other: one / other,
    ast.FloorDiv: lambda one, other: one // other,
}
_TESTS: Mapping[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
#: Longer loops are not counted out.
_MOST = 1 << 10
_FEW = 2


class Step(NamedTuple):
    """What a statement sets to another number each time, and by what; with `bounded` it may come to rest."""

    target: ast.expr
    op: ast.operator
    by: ast.expr
    bounded: bool = False


def step_of(frame: Frame | None, node: ast.AST) -> Step | None:
    """By what a statement changes a number each time; None for all others. Without a frame only literals are known."""
    if isinstance(node, ast.AugAssign):
        return Step(node.target, node.op, node.value) if _changes(frame, node.op, node.value) else None
    if not isinstance(node, ast.Assign) or len(node.targets) != 1:
        return None
    target, value, bounded = node.targets[0], node.value, False
    if isinstance(value, ast.Call) and frame is not None and naming.names_at(frame)(value.func) in _BOUNDS:
        computed = [one for one in value.args if isinstance(one, ast.BinOp)]
        value, bounded = computed[0] if len(computed) == 1 else value, True
    if not isinstance(value, ast.BinOp):
        return None
    sides = [(value.left, value.right)]
    if isinstance(value.op, _EITHER_SIDE):
        sides.append((value.right, value.left))
    own = steps_of(target)
    by = next((by for one, by in sides if own and steps_of(one) == own and _changes(frame, value.op, by)), None)
    return Step(target, value.op, by, bounded) if by is not None else None


def _changes(frame: Frame | None, op: ast.operator, by: ast.expr) -> bool:
    """Whether an operator gives something else with an expression: a number that is not known to leave all as it is."""
    number = _number(frame, by)
    return number is not None and number.const not in _NEUTRAL.get(type(op), ())


def _number(frame: Frame | None, node: ast.expr) -> Value | None:
    """The number that an expression is; of a parameter of which nothing else is known, one as its default."""
    if isinstance(node, ast.Constant):
        return NUMBER._replace(const=node.value) if isinstance(node.value, (int, float)) else None
    if frame is None:
        return None
    value = frame.machine.evaluate(frame, node)
    if value.kind is Kind.UNKNOWN and isinstance(node, ast.Name) and frame.function is not None:
        default = default_nodes(frame.function.node.args).get(node.id)
        return NUMBER if isinstance(default, ast.Constant) and type(default.value) in (int, float) else None
    return value if value.kind is Kind.NUMBER else None


def number_made(frame: Frame | None, step: Step) -> Value:
    """What a statement sets that counts."""
    by = _number(frame, step.by)
    whole = by is not None and (isinstance(by.const, int) or by.is_whole) and not isinstance(step.op, ast.Div)
    return NUMBER._replace(flags=Flag.WHOLE if whole else Flag.FLOATING)


def may_return(frame: Frame | None, step: Step, inside: Iterable[ast.AST]) -> bool:
    """Whether what counts in some code may have a value twice: it comes to rest, turns, goes on by what varies."""
    number = _number(frame, step.by)
    turns = isinstance(step.op, (ast.Mult, ast.Div)) and number is not None and number.const == -1
    stored = {
        ast.unparse(one)
        for one in inside
        if isinstance(one, (ast.Name, ast.Attribute)) and not isinstance(one.ctx, ast.Load)
    }
    parts = [*walk(step.by)]
    varies = any(isinstance(one, ast.Call) for one in parts) or any(
        isinstance(one, (ast.Name, ast.Attribute)) and ast.unparse(one) in stored for one in parts
    )
    return step.bounded or turns or varies or isinstance(step.op, _RETURNING)


def values_until(frame: Frame | None, loop: Loop, test: ast.Compare, bound: float, *, goes_on: bool) -> int | None:
    """How many values a number has until a test of it ends a loop in which it counts; 0 where that may be any number.

    None where no statement counts it, or from what is not known up to the bound. With `goes_on` the loop runs while the
    test holds, without until it does.
    """
    step = _only_step(frame, loop, test.left)
    number = _number(frame, step.by) if step is not None else None
    if step is None or number is None:
        return None
    by, start = number.const, _start(frame, loop, test.left)
    holds, computed = _TESTS.get(type(test.ops[0])), _COMPUTED.get(type(step.op))
    if not isinstance(by, (int, float)) or start is None or step.bounded or holds is None or computed is None:
        return _until_from_unknown(step.op, by)
    found = 0
    try:
        while found < _MOST and holds(start, bound) is goes_on:
            start, found = computed(start, by), found + 1
    except ArithmeticError:
        return None  # the program raises there, too
    return found if found < _MOST else 0


def _until_from_unknown(op: ast.operator, by: object) -> int | None:
    """The same where it is not known from where it counts: what is halved comes soon to what bounds it."""
    if not isinstance(op, (ast.Add, ast.Sub)):
        return _FEW
    known = isinstance(by, (int, float))
    return 0 if known and (by < 0) == isinstance(op, ast.Add) else None


def _only_step(frame: Frame | None, loop: Loop, counted: ast.expr) -> Step | None:
    """The statement in a loop that counts something, where no other sets it."""
    inside, own = [node for part in loop.body for node in walk(part)], ast.unparse(counted)
    steps = [step for node in inside if (step := step_of(frame, node)) is not None and ast.unparse(step.target) == own]
    return steps[0] if len(steps) == _stores(inside, counted) == 1 else None


def _start(frame: Frame | None, loop: Loop, target: ast.expr) -> float | None:
    """The number that something is in front of a loop: a variable, or an attribute of what is made there."""
    if frame is None:
        return None
    around, value = naming.text_of(frame), UNKNOWN
    if isinstance(target, ast.Name):
        inside = {*walk(loop)}
        outside = [one for one in use_def(around).every(target.id) if one.node not in inside]
        bound = last_before(around, outside, loop)
        if bound is not None and bound.value is not None and bound.part is None:
            value = frame.machine.evaluate(frame, bound.value)
    elif isinstance(target, ast.Attribute) and _stores(walk(around), target) == 1:
        made = made_by(frame, target.value)
        holder = frame.machine.evaluate(made.frame, made.expression)
        held = holder.heap.step(f".{target.attr}") if holder.heap is not None else None
        value = held or UNKNOWN
    return value.const if isinstance(value.const, (int, float)) else None


def _stores(nodes: Iterable[ast.AST], target: ast.expr) -> int:
    """How often something is set, as its text tells."""
    spelled = ast.unparse(target)
    kept = (node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and ast.unparse(node) == spelled)
    return sum(not isinstance(node.ctx, ast.Load) for node in kept)
