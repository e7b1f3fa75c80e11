"""Conditions that what a body was given decides: the flag that a helper is called with, the type of an argument.

Local variables only. A flag of a module is left open: it is there to be switched.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import rebound_inside
from nonstrict.knowledge.operators import torch_kind
from nonstrict.models.library import SHIPPED
from nonstrict.program.domain import constant_folding
from nonstrict.program.domain.access_paths import NOWHERE
from nonstrict.program.domain.values import CALLABLES, CONTAINERS, NO_CONSTANT, TENSORS, Flag, Kind, Value
from nonstrict.program.objects import classes
from nonstrict.program.objects.annotations import canonical
from nonstrict.program.objects.naming import dotted
from nonstrict.program.objects.typed import PLAIN_TENSORS
from nonstrict.truth import of_condition

if TYPE_CHECKING:
    from nonstrict.program.state.frames import Frame

#: Values of these kinds are of one type, whose instances are none of another of them.
_TYPED = TENSORS | CONTAINERS | {Kind.STRING, Kind.NUMBER, Kind.BOOL, Kind.NONE, Kind.TUPLE}
#: The types that are asked for by their names: what is no `list` may still be a `Sequence`.
_BUILTINS = frozenset(f"builtins.{name}" for name in ("list", "dict", "set", "tuple", "str", "int", "float", "bool"))
_NAMES = PLAIN_TENSORS | _BUILTINS
#: What is surely not None.
_GIVEN = TENSORS | CONTAINERS | {Kind.STRING, Kind.NUMBER, Kind.BOOL, Kind.TUPLE}
_NUMBERS = frozenset({Kind.NUMBER, Kind.BOOL})
#: What a name of torch stands for that is not a function or class; None for names that it does not have.
_NO_FUNCTION = frozenset({"constant", "module", "dtype", None})


def truth(frame: Frame, test: ast.expr) -> bool | None:
    """Whether a condition holds; None where that is open."""
    return of_condition(test, partial(_of_part, frame))


def _of_part(frame: Frame, test: ast.expr) -> bool | None:
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        return _compared(frame, test.left, test.ops[0], test.comparators[0])
    if isinstance(test, ast.Call):
        return _of_type(frame, test)
    held = _local(frame, test)
    if held is None:
        return None
    return False if held.kind is Kind.NONE else bool(held.const) if held.const is not NO_CONSTANT else None


def _local(frame: Frame, node: ast.expr) -> Value | None:
    """What a local variable surely holds, or a literal."""
    if isinstance(node, ast.Constant):
        return frame.machine.evaluate(frame, node)
    if not isinstance(node, ast.Name) or frame.scope is None or node.id not in frame.scope.local:
        return None
    around = frame.function.node if frame.function is not None else None
    if around is None or node.id in rebound_inside(around):
        return None
    return frame.env.get(node.id)


def _compared(frame: Frame, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> bool | None:
    """Comparisons of a local variable with None, or with a literal."""
    one, other = _local(frame, left), _local(frame, right)
    if one is None or other is None:
        return None
    if isinstance(operator, (ast.Is, ast.IsNot)):
        if other.kind is not Kind.NONE or not (one.kind is Kind.NONE or _is_given(one)):
            return None
        return (one.kind is Kind.NONE) is isinstance(operator, ast.Is)
    return constant_folding.compared(operator, one, other)


def is_callable(value: Value) -> bool:
    """Whether a value surely can be called: then it is not None, and true.

    An attribute of an object or module that was not seen may be a method, a number or None.
    """
    if value.kind is Kind.EXTERNAL:
        return torch_kind(value.dotted) not in _NO_FUNCTION or SHIPPED.effect(value.dotted) is not None
    return value.kind in CALLABLES and value.kind is not Kind.EXTERNAL_METHOD


def _is_given(value: Value) -> bool:
    alternatives = value.alternatives()
    return not _may_be_none(value) and all(one.kind in _GIVEN or is_callable(one) for one in alternatives)


def _may_be_none(value: Value) -> bool:
    return any(one.flags & Flag.OPTIONAL for one in (value, *value.alternatives()))


# -- types --------------------------------------------------------------------------------------------------------


def _of_type(frame: Frame, call: ast.Call) -> bool | None:
    """`isinstance(x, torch.Tensor)`, `torch.is_tensor(x)` of a local variable."""
    held = _local(frame, call.args[0]) if call.args else None
    if held is None or isinstance(call.args[0], ast.Constant):
        return None
    asking = dotted(frame, call.func)
    asks_tensor = asking == "torch.is_tensor" and len(call.args) == 1
    if not asks_tensor and not (asking == "builtins.isinstance" and len(call.args) == 2):
        return None
    if asks_tensor:
        verdicts = [_is_instance(held, Value(Kind.TENSOR, NOWHERE), "torch.Tensor")]
    else:
        asked = call.args[1].elts if isinstance(call.args[1], ast.Tuple) else [call.args[1]]
        verdicts = [
            _is_instance(held, frame.machine.annotated(frame, one, NOWHERE), canonical(frame, one)) for one in asked
        ]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def _is_instance(value: Value, asked: Value, name: str) -> bool | None:
    """Whether all that a value may be is, or none of it is, of the type that is asked for by some name."""
    verdicts = {_member_is_instance(member, asked, name) for member in value.alternatives()}
    verdict = verdicts.pop() if len(verdicts) == 1 else None
    return None if verdict and _may_be_none(value) else verdict


def _member_is_instance(member: Value, asked: Value, name: str) -> bool | None:
    if asked.of_class is not None:
        return True if member.of_class is not None and asked.of_class in classes.lineage(member.of_class) else None
    if member.kind not in _TYPED or asked.kind not in _TYPED or name not in _NAMES:
        return None
    if asked.kind in TENSORS:
        whole = asked.ref is None
        return False if member.kind not in TENSORS else True if whole else None
    if member.kind in TENSORS:
        return False
    if member.kind is not asked.kind:
        return None if {member.kind, asked.kind} <= _NUMBERS else False
    whole = name == f"builtins.{asked.kind.value}" and asked.kind is not Kind.SET
    return True if whole and member.ref is None else None
