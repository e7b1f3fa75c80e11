"""What failed checks say about the arguments: sizes, ranks, dtypes and numbers that would have passed them.

A relation names what it is about by values: the tensor whose rank it asked for is the argument itself, as long as the
function handed that on; of a tensor made from arguments, those are changed that have such a size, rank or dtype.
"""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from nonstrict_agent.inputs import moves
from nonstrict_agent.inputs.checks import MISSING, Asked, Missing, Place, assigned_to, bool_of
from nonstrict_agent.inputs.specification import NONE, Spec, describe, literal, nodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from nonstrict_agent.inputs.answers import Failure, Found

_RANK, _SIZE, _SHAPE, _DTYPE, _GRADIENT, _VALUE = "rank", "size", "shape", "dtype", "gradient", "value"
_RANKS = frozenset({"ndim", "dim", "ndimension"})
_FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE, ast.Eq: ast.Eq, ast.NotEq: ast.NotEq,
}  # fmt: skip
#: What is added to a number for another one that stands in a relation to it.
_STEPS: dict[type[ast.cmpop], tuple[int, ...]] = {
    ast.Lt: (-1,), ast.LtE: (0,), ast.Gt: (1,), ast.GtE: (0,), ast.NotEq: (1, -1),
}  # fmt: skip
#: Names bound to names, and names of parts.
_FOLLOWED = 4


class Side(NamedTuple):
    """One side of a relation: its value, and what of which tensor it is, as far as that is known."""

    value: object
    what: str = _VALUE
    of: torch.Tensor | None = None
    axis: int | None = None


def demanded(failure: Failure, asked: list[Asked], origins: Mapping[int, Spec]) -> Found:
    """Changed choices that would have passed a check, with their costs; `origins` are the nodes of values by `id`."""
    for n, one in enumerate(asked[:4]):
        changes = _Changes(failure, origins)
        yield from ((cost + 0.2 * n, choice) for cost, choice in _answers(changes, one))


def asks_for_gpu(asked: list[Asked]) -> bool:
    """Whether a check asked for a tensor on a GPU, or for a machine that has one."""
    return any(_is_of_gpu(one) for one in asked)


def _is_of_gpu(asked: Asked) -> bool:
    place, expression = asked.place, asked.left
    right = place.value(asked.right)
    wanted = right is (asked.relation is ast.Is)
    if isinstance(expression, ast.Call):
        return wanted and place.value(expression.func) is torch.cuda.is_available
    if not isinstance(expression, ast.Attribute):
        return False
    owner = place.value(expression.value)
    of_tensor = isinstance(owner, torch.Tensor) and wanted and expression.attr == "is_cuda"
    of_device = isinstance(owner, torch.device) and asked.relation is ast.Eq and right == "cuda"
    return of_tensor or of_device


def _answers(changes: _Changes, asked: Asked) -> Found:
    place = asked.place
    strided = next((one for each in (asked.left, asked.right) for one in _strided(place, each)), None)
    if strided is not None:
        yield from changes.laid_out(strided)
        return
    left, right = _side(place, asked.left), _side(place, asked.right)
    if asked.relation in {ast.Eq, ast.Is, ast.IsNot, ast.NotEq} and isinstance(left.value, (int, bool)):
        divided = _divided(place, asked.left)
        wanted = right.value == 0 if asked.relation in {ast.Eq, ast.NotEq} else right.value is False
        if divided is not None and wanted is (asked.relation is not ast.NotEq):
            yield from _multiples(changes, *divided)
            return
    if asked.relation in {ast.In, ast.NotIn}:
        members = list(right.value)[:6] if isinstance(right.value, (tuple, list, set, frozenset, dict)) else []
        for n, member in enumerate(members if asked.relation is ast.In else []):
            yield from _shifted(changes.to(left, member), 0.1 * n)
        return
    if asked.relation in {ast.Is, ast.IsNot} and isinstance(right.value, bool):
        yield from _truth(changes, place, asked, wanted=right.value is (asked.relation is ast.Is))
        return
    for value in _fitting(asked.relation, right.value):
        yield from changes.to(left, value)
    for value in _fitting(_FLIPPED.get(asked.relation, asked.relation), left.value):
        yield from _shifted(changes.to(right, value), 0.1)


def _strided(place: Place, expression: ast.expr) -> Iterator[torch.Tensor]:
    """The tensors whose strides an expression asks for."""
    for node in ast.walk(expression):
        if isinstance(node, ast.Attribute) and node.attr == "stride":
            owner = place.value(node.value)
            if isinstance(owner, torch.Tensor):
                yield owner


def _shifted(found: Found, more: float) -> Found:
    return ((cost + more, choice) for cost, choice in found)


def _fitting(relation: type[ast.cmpop], other: object) -> Iterator[object]:
    """Values that stand in a relation to another."""
    if relation in {ast.Eq, ast.Is}:
        yield other
    elif type(other) in {int, float}:
        number: Any = other
        yield from (number + step for step in _STEPS.get(relation, ()))
    elif relation is ast.IsNot and other is None:
        yield MISSING


def _divided(place: Place, expression: ast.expr) -> tuple[Side, Side] | None:
    """What is divided and by what, of a rest."""
    expression = assigned_to(place, expression) or expression
    if isinstance(expression, ast.BinOp) and isinstance(expression.op, ast.Mod):
        return _side(place, expression.left), _side(place, expression.right)
    return None


def _multiples(changes: _Changes, left: Side, right: Side) -> Found:
    if type(left.value) is not int or type(right.value) is not int or right.value <= 0:
        return
    for n, times in enumerate((1, 2, 4)):
        if right.value * times != left.value:
            yield from _shifted(changes.to(left, right.value * times), 0.1 * n)
    divisors = [each for each in (left.value, 4, 2, 1) if 0 < each < right.value and left.value % each == 0]
    for n, divisor in enumerate(dict.fromkeys(divisors)):
        yield from _shifted(changes.to(right, divisor), 0.2 + 0.1 * n)


def _truth(changes: _Changes, place: Place, asked: Asked, *, wanted: bool) -> Found:
    """Answers to a condition that is no comparison: a flag, whether gradients are needed, a class."""
    expression = asked.left
    if isinstance(expression, ast.Call) and place.value(expression.func) is isinstance:
        if wanted and len(expression.args) == 2:
            yield from changes.of_class(*map(place.value, expression.args))
        return
    asked_of = expression.func if isinstance(expression, ast.Call) else expression
    if isinstance(asked_of, ast.Attribute):
        owner = place.value(asked_of.value)
        if isinstance(owner, torch.Tensor) and asked_of.attr == "requires_grad":
            yield from changes.to(Side(owner.requires_grad, _GRADIENT, owner), wanted)
        elif isinstance(owner, torch.Tensor) and asked_of.attr in {"is_floating_point", "is_complex"}:
            to = {"is_floating_point": torch.float32, "is_complex": torch.complex64}[asked_of.attr]
            yield from changes.to(Side(owner.dtype, _DTYPE, owner), to if wanted else torch.int64)
        elif isinstance(owner, torch.Tensor) and asked_of.attr == "is_contiguous":
            yield from changes.laid_out(owner)
        return
    value = place.value(expression)
    if isinstance(value, bool) and isinstance(expression, ast.Name):
        yield from changes.flag(expression.id, wanted)
    elif value is None and wanted:
        yield from changes.to(Side(None), MISSING)


def _side(place: Place, expression: ast.expr) -> Side:
    """What one side of a relation is, followed through the names that it was given."""
    value = place.value(expression)
    for _ in range(_FOLLOWED):
        known = _aspect(place, expression, value)
        if known is not None:
            return known
        assigned = assigned_to(place, expression)
        if assigned is None or not is_same(place.value(assigned), value):
            break
        expression = assigned
    return Side(value)


def _aspect(place: Place, expression: ast.expr, value: object) -> Side | None:
    """The aspect of a tensor that an expression asks for."""
    if isinstance(expression, ast.Call):
        called = expression.func
        if place.value(called) is len and len(expression.args) == 1:
            return _of_length(place, expression.args[0], value)
        if isinstance(called, ast.Attribute) and isinstance(owner := place.value(called.value), torch.Tensor):
            if called.attr in _RANKS:
                return Side(value, _RANK, owner)
            if called.attr == "size":
                axis = place.value(expression.args[0]) if expression.args else None
                return Side(value, _SIZE if expression.args else _SHAPE, owner, _axis(axis))
        return None
    if isinstance(expression, ast.Subscript):
        within = _aspect(place, expression.value, place.value(expression.value))
        named = assigned_to(place, expression.value)
        if within is None and named is not None:
            within = _aspect(place, named, place.value(named))
        if within is not None and within.what == _SHAPE:
            return Side(value, _SIZE, within.of, _axis(place.value(expression.slice)))
        return None
    if isinstance(expression, ast.Attribute) and isinstance(owner := place.value(expression.value), torch.Tensor):
        what = {"shape": _SHAPE, "dtype": _DTYPE, "ndim": _RANK, "requires_grad": _GRADIENT}.get(expression.attr)
        return Side(value, what, owner) if what is not None else None
    return None


def _of_length(place: Place, measured: ast.expr, value: object) -> Side | None:
    held = place.value(measured)
    if isinstance(held, torch.Tensor):
        return Side(value, _SIZE, held, 0)
    within = _side(place, measured)
    return Side(value, _RANK, within.of) if within.what == _SHAPE else None


def _axis(value: object) -> int | None:
    return value if type(value) is int else None


class _Changes:
    """Changes of the choice that failed."""

    def __init__(self, failure: Failure, origins: Mapping[int, Spec]) -> None:
        self._failure = failure
        self._origins = origins

    def to(self, side: Side, value: object) -> Found:
        """Changed choices after which one side should be `value`; MISSING stands for anything that is there."""
        if isinstance(side.value, Missing) or is_same(side.value, value):
            return
        own = self._origins.get(id(side.of)) if side.of is not None else None
        if side.value is None:
            yield from self._present(value)
        elif side.what == _RANK and type(value) is int and 0 <= value <= 6:
            yield from self._tensors(side, own, lambda node: moves.ranked(node, value))
        elif side.what == _SHAPE and isinstance(value, (tuple, list)):
            shape = [int(each) for each in value if type(each) is int]
            yield from self._tensors(side, own, lambda node: moves.shaped(node, shape))
        elif side.what == _DTYPE and isinstance(value, torch.dtype):
            name = str(value).rpartition(".")[2]
            yield from self._tensors(side, own, lambda node: moves.typed(node, name))
        elif side.what == _GRADIENT:
            yield from self._tensors(side, own, lambda node: {**node, "requires_grad": bool(value)})
        elif type(side.value) is int and type(value) is int:
            yield from self._sizes(side, own, side.value, value)
        else:
            yield from self._literals(side.value, value)

    def _tensors(self, side: Side, own: Spec | None, change: Callable[[Spec], Spec]) -> Found:
        """The tensor itself changed; of one that was made on the way, those that are like it, and then all."""
        failure = self._failure
        like = [
            (name, spec, node)
            for name, spec, node in moves.parts(failure.reading, failure.choice)
            if node["kind"] == "tensor" and (node is own if own is not None else _is_like(node, side))
        ]
        for name, spec, node in like:
            yield (0.15 if own is not None else 0.25), moves.with_node(failure.choice, name, spec, node, change(node))
        chosen = [node for _, _, node in like]
        if len(chosen) > 1:
            yield 0.3, self._each(lambda node: change(node) if any(node is one for one in chosen) else None)
        yield 0.45, self._each(lambda node: change(node) if node["kind"] == "tensor" else None)

    def _each(self, change: Callable[[Spec], Spec | None]) -> Any:
        return moves.each_changed(self._failure.reading, self._failure.choice, change)

    def _sizes(self, side: Side, own: Spec | None, old: int, value: int) -> Found:
        """A size or an integer made another: wherever it stands, of one tensor, and each by itself."""
        failure = self._failure
        if value >= 0:
            yield 0.15, moves.resized(failure.reading, failure.choice, old, value)
        for name, spec, node in moves.parts(failure.reading, failure.choice):
            if node["kind"] == "tensor" and value >= 0:
                for axis, size in enumerate(node["shape"]):
                    meant = node is own and side.axis is not None and side.axis % len(node["shape"]) == axis
                    if size == old or meant:
                        shape = [*node["shape"][:axis], value, *node["shape"][axis + 1 :]]
                        changed = moves.with_node(failure.choice, name, spec, node, moves.shaped(node, shape))
                        yield (0.2 if meant else 0.4), changed
            elif moves.is_number(node) and node["value"] == old:
                yield 0.25, moves.with_node(failure.choice, name, spec, node, literal(value))

    def _literals(self, old: object, value: object) -> Found:
        new = describe(value)
        if new["kind"] not in {"literal", "dtype", "device", "none", "enum"}:
            return
        for name, spec, node in moves.parts(self._failure.reading, self._failure.choice):
            if node == describe(old):
                yield 0.2, moves.with_node(self._failure.choice, name, spec, node, new)

    def _present(self, value: object) -> Found:
        """Something in the place of None."""
        for parameter in self._failure.reading.parameters:
            if (moves.current(parameter, self._failure.choice) or {}).get("kind") != NONE["kind"]:
                continue
            extra = 0.0 if parameter.name in self._failure.blamed else 0.4
            if not isinstance(value, Missing):
                yield 0.2 + extra, {**self._failure.choice, parameter.name: describe(value)}
            for guess in parameter.guesses[:8] if isinstance(value, Missing) else ():
                if guess.spec["kind"] != NONE["kind"]:
                    yield 0.2 + extra + 0.4 * guess.cost, {**self._failure.choice, parameter.name: guess.spec}

    def laid_out(self, value: torch.Tensor) -> Found:
        """The same shape in another layout: the last two dimensions swapped in memory, or as it is by default."""
        own = self._origins.get(id(value))

        def change(node: Spec) -> Spec | None:
            if node["kind"] != "tensor" or len(node["shape"]) < 2 or (own is not None and node is not own):
                return None
            if "strides" in node:
                return moves.shaped(node, node["shape"])
            *outer, last = _strides([*node["shape"][:-2], node["shape"][-1], node["shape"][-2]])
            return {**node, "strides": [*outer[:-1], last, outer[-1]]}

        yield 0.15, self._each(change)

    def flag(self, name: str, wanted: bool) -> Found:
        """A flag given to the function itself, under its own name."""
        for parameter in self._failure.reading.parameters:
            if parameter.name == name and parameter.replaceable:
                yield 0.2, {**self._failure.choice, name: literal(wanted)}

    def of_class(self, value: object, kinds: object) -> Found:
        """A tensor, number or text in the place of something else, where such a thing was asked for."""
        listed: tuple[object, ...] = tuple(kinds) if isinstance(kinds, tuple) else (kinds,)
        for parameter in self._failure.reading.parameters:
            spec = moves.current(parameter, self._failure.choice)
            given = [self._origins.get(id(value))] if isinstance(value, torch.Tensor) else []
            meant = any(node is one for one in given for node in nodes(spec or {}))
            if not parameter.replaceable or not (meant or parameter.name in self._failure.blamed):
                continue
            for guess in parameter.guesses:
                if _is_of(guess.spec, listed) and guess.spec != spec:
                    yield 0.3 + 0.3 * guess.cost, {**self._failure.choice, parameter.name: guess.spec}


def _strides(shape: list[int]) -> list[int]:
    """Of a contiguous tensor."""
    return [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]


def is_same(one: object, other: object) -> bool:
    """Whether two values are one, or equal values of one class; tensors are asked for no more than their identity."""
    if one is other or isinstance(one, torch.Tensor):
        return one is other
    return type(one) is type(other) and bool_of(one == other) is True


def _is_like(node: Spec, side: Side) -> bool:
    """Whether a tensor has what a check found at one that was made on the way."""
    if side.what == _RANK:
        return len(node["shape"]) == side.value
    if side.what == _DTYPE:
        return f"torch.{node['dtype']}" == str(side.value)
    if side.what == _GRADIENT:
        return bool(node.get("requires_grad")) is side.value
    return isinstance(side.value, (tuple, list)) and node["shape"] == list(side.value)


def _is_of(spec: Spec, kinds: tuple[object, ...]) -> bool:
    """Whether a specification describes an instance of one of some classes, as far as its kind tells."""
    told: Mapping[str, type] = {"tensor": torch.Tensor, "list": list, "tuple": tuple, "dict": dict}
    kind = type(spec["value"]) if spec["kind"] == "literal" else told.get(spec["kind"])
    return kind is not None and any(isinstance(one, type) and issubclass(kind, one) for one in kinds)
