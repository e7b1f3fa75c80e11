"""Small tensors to begin with: a shape for each number of dimensions, and guesses in the order of plausibility."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict_agent.inputs import words
from nonstrict_agent.inputs.specification import Spec, tensor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict_agent.inputs.usage import Usage

SHAPES: Mapping[int, list[int]] = {
    0: [], 1: [4], 2: [4, 4], 3: [2, 4, 4], 4: [2, 4, 4, 4], 5: [1, 4, 4, 4, 4], 6: [1, 2, 4, 4, 4, 4],
}  # fmt: skip
RANKS = (2, 4, 3, 1, 0, 5)


class Guess(NamedTuple):
    """A specification that a parameter may have, and how implausible it is: 0 is the first one to try."""

    spec: Spec
    cost: float


def tensors(name: str, usage: Usage) -> Iterator[Guess]:
    """Tensors of the ranks and dtypes that use and name speak for."""
    parts = set(name.lower().split("_"))
    dtypes = ["float32", "int64", "bool", "complex64"]
    if usage.index or parts & words.INDEX:
        dtypes = ["int64", "float32", "bool"]
    elif usage.mask or parts & words.MASK:
        dtypes = ["bool", "float32", "int64"]
    exact = [rank for rank in dict.fromkeys(usage.ranks) if 0 <= rank <= 6]
    named = [4] if parts & {"img", "image", "images", "query", "key", "q", "k", "v"} and not parts & {"size"} else []
    ranks = dict.fromkeys([*exact, *named, *(rank for rank in RANKS if rank >= usage.least_rank)])
    for shape in usage.shapes:
        yield Guess(tensor(shape, dtypes[0], **index_range(dtypes[0])), 0)
    for n, rank in enumerate(ranks):
        for m, dtype in enumerate(dtypes[: 3 if n == 0 else 1] if n < 3 else dtypes[:1]):
            yield Guess(tensor(SHAPES[rank], dtype, **index_range(dtype)), 0.6 * n + 1.2 * m)


def index_range(dtype: str) -> dict[str, int]:
    """The range of integers and bools: valid as indices into anything with two entries."""
    return {"low": 0, "high": 1} if dtype in {"int64", "int32", "bool"} else {}
