"""How many values numbers have that are drawn at random."""

from __future__ import annotations

import random

import pytest

from nonstrict.program.contracts.boundary.drawing import different
from nonstrict.program.interpret.rounds import MANY


@pytest.mark.parametrize(("among", "times"), [(113, 30), (16, 40), (64, 50), (8, 40), (12, 20), (2, 9)])
def test_hardly_ever_fewer_are_drawn(among: int, times: int):
    generator = random.Random(0)  # noqa: S311 - no secret
    drawn = [len({generator.randrange(among) for _ in range(times)}) for _ in range(200)]
    fewer = sum(one < different(among, times) for one in drawn)
    assert fewer <= 20 * len(drawn) // 100


@pytest.mark.parametrize(
    ("among", "times", "told"), [(1, 50, 1), (8, 100, 8), (MANY, 50, 48), (4, 2, 2), (0, 5, 0), (113, 30, 25)]
)
def test_how_many_are_told(among: int, times: int, told: int):
    assert different(among, times) == told
