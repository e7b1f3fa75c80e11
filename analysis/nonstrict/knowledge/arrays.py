"""What functions of NumPy make of arrays, sizes and chance.

Every answer comes from `data/operators.json`, which `scripts/generate_operators.py` makes by asking NumPy.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from nonstrict.knowledge.store import data_file


class Drawn(NamedTuple):
    """What a function of `numpy.random` draws: one number of type `kind` (`int`, `float`) where no size is given.

    The size stands behind `before` other arguments.
    """

    before: int
    kind: str


def keeps_shape(name: str) -> bool:
    """Whether the result of `numpy.NAME` has the shape of its only array, and its dtype if that is floating-point."""
    return name in _names("kept")


def is_sized(name: str) -> bool:
    """Whether the first argument of `numpy.NAME` is the shape of what it makes."""
    return name in _names("sized")


def drawn(name: str) -> Drawn | None:
    """What `numpy.random.NAME` draws; None where it draws no plain number, or nothing."""
    found = data_file("operators.json")["arrays"]["drawn"].get(name)
    return Drawn(*found) if found is not None else None


@cache
def _names(key: str) -> frozenset[str]:
    return frozenset(data_file("operators.json")["arrays"][key].split())
