"""A traced function prints, at trace time only.

area: meaning
named: NST201 house-print-in-compiled
near: T201
"""

import torch


@torch._dynamo.nonstrict_trace
def scaled(x):
    print("scaling", tuple(x.shape))  # hazard
    return x * 2


@torch.compile
def step(x):
    return scaled(x) + 1


def main():
    return [step(torch.ones(3)).sum().item() for _ in range(5)]


# truth: eager runs; aot_eager effects lost; inductor effects lost; graphs 1, breaks 0, recompilations 0
