"""A file in which every function matters to nonstrict: marked functions, regions that call them, shared helpers."""

from __future__ import annotations

import random
from typing import cast

from bench import gen_project

HEAD = '''"""A dense file: {marks} marked functions, each called by a compiled region."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch._dynamo import nonstrict_trace
'''
HELPERS = 12
#: Lines at the level of the module, and lines of the function.
_HAZARDS = list(cast("dict[str, tuple[list[str], list[str]]]", gen_project.HAZARDS).values())


def _helper(number: int, random_: random.Random) -> str:
    body = "".join(f"    {operation}\n" for operation in random_.sample(gen_project.BODY_OPS, 4))
    return (
        f"\n\ndef helper_{number:02d}(x: torch.Tensor, scale: float = 2.0) -> torch.Tensor:\n"
        f"{body}    return x * scale\n"
    )


def _unit(number: int, random_: random.Random) -> str:
    """A marked function that calls two helpers, and the region that calls it; every second one with a hazard."""
    names = {"u": f"{number:03d}"}
    outside, inside = _HAZARDS[number // 2 % len(_HAZARDS)] if number % 2 else ([], [])
    globals_ = "".join(f"\n{line.format(**names)}\n" for line in outside)
    hazard = "".join(f"    {line.format(**names)}\n" for line in inside)
    body = "".join(f"    {operation}\n" for operation in random_.sample(gen_project.BODY_OPS, 5))
    first, second = random_.sample(range(HELPERS), 2)
    return (
        f"{globals_}\n\n@nonstrict_trace\ndef traced_{number:03d}(x: torch.Tensor) -> torch.Tensor:\n"
        f"{hazard}{body}    return helper_{first:02d}(x) + helper_{second:02d}(x)\n"
        f"\n\n@torch.compile\ndef step_{number:03d}(x: torch.Tensor) -> torch.Tensor:\n"
        f'    """Region {number}."""\n    y = traced_{number:03d}(x * {number + 1})\n    return y.sum() + x.mean()\n'
    )


def dense_file(lines: int) -> str:
    """A file of at most so many lines, as close to them as whole functions come; always the same for a number."""
    random_ = random.Random(lines)  # noqa: S311 - nothing is kept secret
    helpers = "".join(_helper(number, random_) for number in range(HELPERS))
    units: list[str] = []
    left = lines - (HEAD + helpers).count("\n")
    while (unit := _unit(len(units), random_)).count("\n") <= left:
        units.append(unit)
        left -= unit.count("\n")
    return HEAD.format(marks=len(units)) + helpers + "".join(units)


def middle(text: str) -> str:
    """The name of the marked function in the middle of such a file."""
    return f"traced_{text.count('@nonstrict_trace') // 2:03d}"
