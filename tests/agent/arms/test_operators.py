"""What `opcheck` says of the custom operators that a program calls in its regions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

OPERATORS = """\
import torch

lib = torch.library.Library("made", "DEF")
lib.define("halve(Tensor x) -> Tensor")

def halve(x):
    return x / 2

lib.impl("halve", halve, "CPU")

@torch.library.custom_op("made::right", mutates_args=())
def right(x: torch.Tensor) -> torch.Tensor:
    return x + 1

@right.register_fake
def _(x):
    return torch.empty_like(x)

@torch.library.custom_op("made::total", mutates_args=())
def total(x: torch.Tensor) -> torch.Tensor:
    return x.sum()

@total.register_fake
def _(x):
    return x.new_empty((1,))

@torch.library.custom_op("made::written", mutates_args=())
def written(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x + 1

torch.library.register_fake("made::written", torch.empty_like)

@torch.library.custom_op("made::uncalled", mutates_args=())
def uncalled(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x + 1

@torch.compile
def region(x):
    y = torch.ops.made.halve(x)
    return right(y) + total(y) + written(y * 1)

def main():
    region(torch.ones(2, requires_grad=True))
    region(torch.ones(3))
    uncalled(torch.ones(3))
"""


def test_operators_that_regions_call_are_checked(project: Project) -> None:
    trace = project.arm(OPERATORS, opcheck=True)
    assert all("error" not in call for call in trace["calls"])
    told: dict[str, dict[str, Any]] = {one["name"]: one for one in trace["operators"]}
    assert {name: sorted(one["failed"]) for name, one in told.items()} == {
        "made::halve": ["test_faketensor"],
        "made::right": [],
        "made::total": ["test_faketensor"],
        "made::written": ["test_schema"],
    }
    lines = {name: {line for _, line in one["places"]} for name, one in told.items()}
    assert lines["made::halve"] >= {4, 6, 9}
    assert lines["made::total"] >= {19, 23}
    assert lines["made::written"] >= {27, 32}
    assert told["made::right"]["checked"] == 2
    assert [line for _, line in told["made::right"]["called"]] == [42]
    assert "operators" not in project.arm(OPERATORS)


COUNTED = """\
import torch

@torch.library.custom_op("made::counted", mutates_args=())
def counted(x: torch.Tensor) -> torch.Tensor:
    return torch.histc(x, 4, 0.0, 1.0)

@counted.register_fake
def _(x):
    return x.new_empty((4,), dtype={dtype})
"""
USE = """\
import torch
from counting import counted

@torch.compile(fullgraph=True)
def region(x):
    return counted(x) * 0.5

def main():
    region(torch.tensor([0.1, 0.4, 0.4]))
"""


def test_no_graph_is_kept_for_another_fake(project: Project) -> None:
    found: list[list[float]] = []
    for dtype in ("torch.float32", "torch.int64"):
        project.write("counting.py", COUNTED.format(dtype=dtype))
        found += [result(call) for call in project.calls(USE, "inductor")]
    assert found[0] == [0.5, 1.0, 0.0, 0.0]
    assert found[1] != found[0]
