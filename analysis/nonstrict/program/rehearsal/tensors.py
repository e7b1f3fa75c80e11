"""What tensors have to do with one another: whether autograd follows a result, to which dtype several are promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.knowledge.operators import FLOATS
from nonstrict.program.rehearsal.things import Tensor, sequence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from nonstrict.program.rehearsal.stage import Stage
    from nonstrict.program.rehearsal.things import Thing

#: Dtypes from the one that gives way to the one that stays.
_RANKS = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64")
#: So many elements are kept as numbers.
MOST_NUMBERS = 64


def needs_gradients(stage: Stage, things: Iterable[Thing], dtype: str) -> bool:
    """Whether autograd follows what is computed of some things."""
    floating = not dtype or dtype in FLOATS or dtype.startswith("complex")
    return bool(stage.settings["grad"]) and floating and any(_tensors(things, "requires_grad"))


def _tensors(things: Iterable[Thing], flag: str) -> Iterable[bool]:
    for one in things:
        if isinstance(one, Tensor):
            yield bool(getattr(one, flag))
        elif (several := sequence(one)) is not None:
            yield from _tensors(several, flag)


def promoted(dtypes: Iterable[str]) -> str:
    """The dtype to which torch promotes some; "" where it is not known."""
    known = [*dtypes]
    if not known or not all(one in _RANKS for one in known):
        return ""
    top = max(known, key=_RANKS.index)
    mixed = {"float16", "bfloat16"} <= {*known}
    return "float32" if mixed and top in ("float16", "bfloat16") else top


def sizes_of(given: Sequence[Thing]) -> tuple[int, ...] | None:
    """Sizes that are given one by one, or all together; None where one is not known."""
    several = sequence(given[0]) if len(given) == 1 and not isinstance(given[0], int) else list(given)
    known = [one for one in several or () if isinstance(one, int)]
    return tuple(known) if several is not None and len(known) == len(several) else None
