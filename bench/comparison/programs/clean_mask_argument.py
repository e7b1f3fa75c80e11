"""The mask is an argument: nothing is frozen.

area: clean
"""

import torch


@torch._dynamo.nonstrict_trace
def masked(x, mask):
    return x * mask


@torch.compile
def step(x, mask):
    return masked(x, mask) + 1


def main():
    return [step(torch.ones(3), mask).sum().item() for mask in (torch.ones(3), torch.zeros(3))]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 0, recompilations 0
