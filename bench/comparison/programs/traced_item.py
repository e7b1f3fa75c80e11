"""A traced function asks a tensor for its data, which does not exist at trace time.

area: meaning
named: NST402 error graph-break house-item-in-compiled
"""

import torch


@torch._dynamo.nonstrict_trace
def clipped(x):
    if x.abs().max().item() > 1:  # hazard
        x = x.clamp(-1, 1)
    return x


@torch.compile
def step(x):
    return clipped(x) + 1


def main():
    return [step(torch.linspace(-2, 2, 5)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 3, breaks 2, recompilations 0
