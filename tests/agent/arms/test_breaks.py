"""Graph breaks, as arms tell of them: with torch's name for what it did not trace, on the user's lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

PROGRAM = """\
import torch


def report(x):
    print("reports")
    return x


@torch.compile
def step(x):
    for _ in range(2):
        x = x * 2
        print("round")
    return x


@torch.compile
def loss(x):
    return report(x) * x.sum().item()


@torch.compile(fullgraph=True)
def whole(x):
    return x * x.sum().item()


def main():
    x = torch.ones(2)
    step(x)
    loss(x)
    whole(x)
"""
ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"


@pytest.mark.parametrize("backend", ["aot_eager", "inductor"])
def test_breaks_stand_on_lines(project: Project, backend: str) -> None:
    trace = project.arm(PROGRAM, backend)
    told = {(reason, lines[-1][1]) for reason, lines in trace["breaks"]}
    assert told == {("Failed to trace builtin operator", line) for line in (5, 13)} | {(ITEM, 19)}
    assert {line for _, lines in trace["breaks"] for _, line in lines[:-1]} == {19}


def test_eager_code_breaks_nothing(project: Project) -> None:
    assert "breaks" not in project.arm(PROGRAM, "eager")
