"""A region turns a tensor into a Python number, two helpers below.

area: region
named: NST701 graph-break house-item-in-compiled
"""

import torch


def peak(x):
    return x.abs().max().item()  # hazard


def normalized(x):
    return x / peak(x)


@torch.compile
def step(x):
    return normalized(x) + 1


def main():
    return [step(torch.linspace(-2, 2, 5)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 3, breaks 3, recompilations 0
