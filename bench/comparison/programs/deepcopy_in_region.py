"""A region copies a module.

area: region
named: NST701 graph-break
"""

import copy

import torch
from torch import nn

layer = nn.Linear(4, 4)


@torch.compile
def step(x):
    frozen = copy.deepcopy(layer)  # hazard
    return frozen(x).sum() + layer(x).sum()


def main():
    torch.manual_seed(0)
    layer.reset_parameters()
    return [step(torch.ones(2, 4)).item()]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 1, recompilations 0
