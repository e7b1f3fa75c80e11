"""A loop over 60 layers becomes one graph of 60 times its operators: nothing is wrong, the compilation takes long.

area: cost
named: compile-time
"""

import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(60))

    def forward(self, x):
        for layer in self.layers:  # hazard
            x = torch.tanh(layer(x)) + x
        return x


def main():
    torch.manual_seed(0)
    return [torch.compile(Deep())(torch.ones(2, 4)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 0, recompilations 0
