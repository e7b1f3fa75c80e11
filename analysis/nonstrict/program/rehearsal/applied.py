"""What an operator makes of what it is given: one way for functions, methods, operators of Python and layers.

What an operator does comes from the measured table (`nonstrict.knowledge.operators`), which sizes it gives from the
rules for all operators (`shaping`). Where neither tells, that of the result is not known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.dtypes import LOWERED
from nonstrict.knowledge.operators import FLOATS
from nonstrict.program.rehearsal import shaping
from nonstrict.program.rehearsal.dtypes import dtype_of
from nonstrict.program.rehearsal.tensors import needs_gradients, promoted
from nonstrict.program.rehearsal.things import UNKNOWN, Tensor, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.knowledge.operators import Operator
    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

_SQUEEZES = "squeeze"


def applied(
    stage: Stage, name: str, operator: Operator | None, given: Sequence[Thing], named: Mapping[str, Thing]
) -> Thing:
    """What an operator gives: a tensor, a tuple of them, or what of that is known."""
    things = [*given, *named.values()]
    first = next(_tensors(things), None)
    if operator is not None and operator.returns in ("number", "bool"):
        return UNKNOWN
    if operator is not None and operator.returns == "none":
        return None
    if first is None:
        return Tensor(None, "", needs_gradients(stage, things, ""))
    if operator is not None and operator.mutates == (0,) and not operator.out:
        return _changed(stage, operator, first, things)
    sizes = _sizes(name, operator, first, given, named)
    dtype = _dtype(stage, name, operator, first, given, named)
    if isinstance(sizes, list):
        return tuple(_result(stage, operator, first, things, one, dtype, pieces=True) for one in sizes)
    if operator is not None and operator.returns == "tensors" and sizes is None:
        return UNKNOWN
    result = _result(stage, operator, first, things, sizes, dtype)
    return (result, Tensor(result.shape, "int64")) if operator is not None and operator.pairs and sizes else result


def _changed(stage: Stage, operator: Operator, first: Tensor, things: Sequence[Thing]) -> Tensor:
    """A tensor that is written in place."""
    if operator.pointwise and not operator.random and not first.requires_grad:
        first.requires_grad = needs_gradients(stage, things, first.dtype)
    first.numbers = None
    return first


def _sizes(
    name: str, operator: Operator | None, first: Tensor, given: Sequence[Thing], named: Mapping[str, Thing]
) -> tuple[int, ...] | list[tuple[int, ...] | None] | None:
    if name == _SQUEEZES:
        return shaping.squeezed(first, given[1] if len(given) > 1 else named.get("dim"))
    return shaping.result(name, operator, given, named)


def _dtype(
    stage: Stage,
    name: str,
    operator: Operator | None,
    first: Tensor,
    given: Sequence[Thing],
    named: Mapping[str, Thing],
) -> str:
    asked = dtype_of(named.get("dtype")) or (dtype_of(given[1]) if len(given) > 1 else "")
    if asked:
        return asked
    lowered = str(stage.settings["autocast"])
    if lowered and name in LOWERED:
        return lowered
    floating = _promoted([one for one in _tensors([*given, *named.values()]) if one.dtype in FLOATS])
    if operator is None:
        return floating
    told = operator.result_dtype(first.dtype, len(given), named)
    if told and not operator.broadcasts:
        return told
    if operator.broadcasts or operator.joins:
        return told if told == "bool" else _promoted([*given, *named.values()])
    return first.dtype if operator.views or operator.keeps_shape else told or floating


def _promoted(things: Sequence[Thing]) -> str:
    tensors = [*_tensors(things)]
    ranked = [one for one in tensors if one.shape] or tensors
    dtype = promoted(one.dtype for one in ranked)
    if dtype and dtype not in FLOATS and any(isinstance(one, float) for one in things):
        return "float32"
    return dtype


def _result(
    stage: Stage,
    operator: Operator | None,
    first: Tensor,
    things: Sequence[Thing],
    shape: tuple[int, ...] | None,
    dtype: str,
    *,
    pieces: bool = False,
) -> Tensor:
    gradients = needs_gradients(stage, things, dtype)
    if operator is not None and (operator.detaches or operator.like):
        gradients = False
    numbers = first.numbers if operator is not None and operator.views and not pieces else None
    layout = shaping.layout_of(operator, first, shape, pieces=pieces)
    return Tensor(shape, dtype, gradients, numbers=numbers, layout=layout)


def _tensors(things: Iterable[Thing]) -> Iterator[Tensor]:
    """The tensors among some things, and in lists of them."""
    for one in things:
        if isinstance(one, Tensor):
            yield one
        elif (several := sequence(one)) is not None:
            yield from _tensors(several)
