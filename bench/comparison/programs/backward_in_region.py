"""A training step is compiled whole, with its backward pass.

area: region
named: NST701 graph-break
"""

import torch
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Linear(4, 1)

    @torch.compile
    def step(x):
        loss = model(x).square().mean()
        loss.backward()  # hazard
        return loss.detach()

    return [step(torch.ones(2, 4)).item()]


# truth: eager runs; aot_eager same; inductor same; graphs 2, breaks 1, recompilations 0
