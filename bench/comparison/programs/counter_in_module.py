"""A module counts its calls, and is compiled for each count until torch gives it up.

area: region
named: NST803 recompile-limit recompilation
"""

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.calls = 0

    def forward(self, x):
        self.calls += 1  # hazard
        return self.linear(x) / self.calls


def main():
    torch.manual_seed(0)
    net = torch.compile(Net())
    return [net(torch.ones(1, 3)).sum().item() for _ in range(12)]


# truth: eager runs; aot_eager same; inductor same; graphs 8, breaks 0, recompilations 8
