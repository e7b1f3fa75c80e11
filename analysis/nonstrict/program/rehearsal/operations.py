"""Operators of Python, on numbers and containers as Python has them, and on tensors."""

from __future__ import annotations

import ast
import operator
from collections.abc import Hashable
from typing import TYPE_CHECKING, cast

from nonstrict.facts.comparing import COMPARISONS
from nonstrict.knowledge.operators import WHOLE, torch_function
from nonstrict.program.rehearsal.applied import applied
from nonstrict.program.rehearsal.stage import GivenUpError, RaisedError
from nonstrict.program.rehearsal.things import (
    UNKNOWN,
    Definition,
    External,
    Instance,
    Tensor,
    is_known,
    is_list,
    is_tuple,
    plain_dict,
    sequence,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

_BINARY = cast(
    "dict[type[ast.operator], Callable[[Thing, Thing], Thing]]",
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
        ast.Pow: operator.pow,
        ast.BitAnd: operator.and_,
        ast.BitOr: operator.or_,
        ast.BitXor: operator.xor,
        ast.LShift: operator.lshift,
        ast.RShift: operator.rshift,
    },
)
_METHODS: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}
#: What stands for all that compute element by element: sizes and dtypes follow in the same way.
_ELEMENTWISE = "add"
#: Larger numbers, and longer texts and lists, are not computed.
_LARGEST = 1 << 20


def truth(stage: Stage, thing: Thing) -> bool | None:
    """Whether Python takes a thing for true; None where that is not known."""
    if isinstance(thing, Tensor):
        return bool(thing.numbers[0]) if thing.numbers is not None and len(thing.numbers) == 1 else None
    if isinstance(thing, Instance):
        return _truth_of_object(stage, thing)
    if is_known(thing) or sequence(thing) is not None or plain_dict(thing) is not None:
        return bool(thing)
    return None if thing is UNKNOWN or isinstance(thing, External) else True


def _truth_of_object(stage: Stage, thing: Instance) -> bool | None:
    if not isinstance(thing.of, Definition):
        return True
    for name in ("__bool__", "__len__"):
        if thing.of.member(name) is not UNKNOWN:
            answer = stage.call(stage.member(thing, name), (), {}, stage.here, stage.nowhere)
            return bool(answer) if is_known(answer) else None
    return True


def binary(stage: Stage, sign: ast.operator, left: Thing, right: Thing) -> Thing:
    """What a binary operator gives. Raises RaisedError where Python raises."""
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return _of_tensors(stage, sign, left, right)
    if isinstance(left, Instance) and isinstance(left.of, Definition) and type(sign) in _METHODS:
        method = left.of.member(f"__{_METHODS[type(sign)]}__")
        return UNKNOWN if method is UNKNOWN else stage.call(method, (left, right), {}, sign, stage.nowhere)
    if isinstance(sign, ast.Add) and is_list(left) and is_list(right):
        return _repeated([*left, *right], 1)
    if isinstance(sign, ast.Add) and is_tuple(left) and is_tuple(right):
        return (*left, *right)
    if isinstance(sign, ast.Mult) and isinstance(right, int) and (is_list(left) or is_tuple(left)):
        return _repeated(left, right)
    if isinstance(sign, ast.Mod) and isinstance(left, str) and not is_known(right):
        return UNKNOWN
    if not is_known(left, right) or type(sign) not in _BINARY or _is_large(sign, left, right):
        return UNKNOWN
    try:
        return _BINARY[type(sign)](left, right)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise RaisedError(type(error).__name__) from None


def _repeated(left: Thing, times: int) -> Thing:
    entries = sequence(left) or []
    if len(entries) * max(times, 0) > _LARGEST:
        raise GivenUpError
    return entries * times if is_list(left) else tuple(entries * times)


def _is_large(sign: ast.operator, left: Thing, right: Thing) -> bool:
    if any(isinstance(one, int) and one.bit_length() > _LARGEST_BITS for one in (left, right)):
        return True
    if isinstance(sign, ast.Add):
        return sum(len(one) for one in (left, right) if isinstance(one, (str, bytes))) > _LARGEST
    if isinstance(sign, ast.Mod) and isinstance(left, (str, bytes)):
        return len(left) > _LONGEST_FORMAT or any(character.isdigit() for character in str(left))
    if isinstance(sign, (ast.Pow, ast.LShift)):
        sides = [one for one in (left, right) if isinstance(one, (int, float))]
        return any(abs(one) > _LARGEST for one in sides) or (isinstance(right, int) and right > _BITS)
    return isinstance(sign, ast.Mult) and any(isinstance(one, (str, bytes)) for one in (left, right))


_BITS = 64
_LARGEST_BITS = 256
#: Longer formats, and such as tell a width, are not filled in.
_LONGEST_FORMAT = 256


def _of_tensors(stage: Stage, sign: ast.operator, left: Thing, right: Thing) -> Thing:
    given = (left, right)
    if not all(isinstance(one, Tensor) or is_known(one) for one in given):
        return Tensor(None, "", any(isinstance(one, Tensor) and one.requires_grad for one in given))
    if isinstance(sign, ast.MatMult):
        return applied(stage, "matmul", torch_function("torch.matmul"), given, {})
    result = applied(stage, _ELEMENTWISE, torch_function(f"torch.{_ELEMENTWISE}"), given, {})
    if not isinstance(result, Tensor):
        return UNKNOWN
    if isinstance(sign, ast.Div) and result.dtype in WHOLE:
        result.dtype = "float32"
    result.numbers = _numbers(sign, left, right)
    return result


def _numbers(sign: ast.operator, left: Thing, right: Thing) -> tuple[float, ...] | None:
    """The elements of a result, one by one with a number, or with as many others."""
    several = [one.numbers if isinstance(one, Tensor) else (one,) for one in (left, right)]
    if None in several or type(sign) not in _BINARY:
        return None
    one, other = (several[0] or (), several[1] or ())
    length = max(len(one), len(other))
    if not all(len(part) in (1, length) for part in (one, other)):
        return None
    pairs = zip(one * length if len(one) == 1 else one, other * length if len(other) == 1 else other, strict=False)
    try:
        found = [_BINARY[type(sign)](*pair) for pair in pairs]
    except (ArithmeticError, TypeError, ValueError):
        return None
    return tuple(one for one in found if isinstance(one, (int, float)))


def unary(stage: Stage, sign: ast.unaryop, thing: Thing) -> Thing:
    """What a unary operator gives."""
    if isinstance(sign, ast.Not):
        decided = truth(stage, thing)
        return UNKNOWN if decided is None else not decided
    if isinstance(thing, Tensor):
        return applied(stage, "neg", torch_function("torch.neg"), (thing,), {})
    if not isinstance(thing, (int, float)):
        return UNKNOWN
    if isinstance(sign, ast.Invert):
        return ~thing if isinstance(thing, int) else UNKNOWN
    return -thing if isinstance(sign, ast.USub) else thing


def compared(stage: Stage, sign: ast.cmpop, left: Thing, right: Thing) -> Thing:
    """What a comparison gives."""
    if isinstance(sign, (ast.Is, ast.IsNot)):
        same = _is_same(left, right)
        return UNKNOWN if same is None else same is isinstance(sign, ast.Is)
    if isinstance(sign, (ast.In, ast.NotIn)):
        found = _is_in(left, right)
        return UNKNOWN if found is None else found is isinstance(sign, ast.In)
    if isinstance(left, Tensor) or isinstance(right, Tensor):
        return applied(stage, "eq", torch_function("torch.eq"), _tensor_first(left, right), {})
    if isinstance(left, Instance) and isinstance(right, Instance) and isinstance(sign, (ast.Eq, ast.NotEq)):
        return (left is right) is isinstance(sign, ast.Eq)
    if not is_known(left, right):
        return UNKNOWN
    try:
        return COMPARISONS[type(sign)](left, right)
    except TypeError:
        raise RaisedError("TypeError") from None


def _tensor_first(left: Thing, right: Thing) -> tuple[Thing, Thing]:
    return (left, right) if isinstance(left, Tensor) else (right, left)


def _is_same(left: Thing, right: Thing) -> bool | None:
    if left is UNKNOWN or right is UNKNOWN:
        return None
    if isinstance(left, External) and isinstance(right, External):
        return left.dotted == right.dotted
    return left is right or (isinstance(left, (bool, int, str)) and type(left) is type(right) and left == right)


def _is_in(one: Thing, several: Thing) -> bool | None:
    table, entries = plain_dict(several), sequence(several)
    if table is not None:
        is_key = isinstance(one, Hashable) and (is_known(one) or isinstance(one, (Instance, Tensor, Definition)))
        return any(one is key or one == key for key in table) if is_key else None
    if isinstance(one, str) and isinstance(several, str):
        return one in several
    if entries is None or one is UNKNOWN:
        return None
    if any(one is entry for entry in entries):
        return True
    return one in entries if is_known(one) and is_known(*entries) else (None if UNKNOWN in entries else False)
