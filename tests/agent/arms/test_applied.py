"""Applications of `torch.compile`, as arms tell of them: calls of what it returned, graphs, and names of state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.linear(x)

    def encode(self, x):
        return self.linear(x).relu()

    def enable(self):
        self = torch.compile(self)


def main():
    x = torch.ones(1, 2)
    fast = torch.compile(Net())
    fast.encode(x)
    called = torch.compile(Net())
    called(x)
    called(x)
    net = Net()
    net.enable()
    net.compile()
    net(x)
"""


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_calls_and_graphs_of_each_application(project: Project, backend: str) -> None:
    told = {line: tuple(counts) for _, line, *counts in project.arm(PROGRAM, backend)["applied"]}
    # The last one finds the code of its module compiled.
    assert told == {16: (0, 0, 2), 21: (0, 0, 2), 23: (2, int(backend != "eager"), 2), 28: (1, 0, 0)}
