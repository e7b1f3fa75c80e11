"""A region prints: its graph breaks.

area: region
named: NST701 graph-break house-print-in-compiled
near: T201
"""

import torch


@torch.compile
def step(x):
    x = torch.tanh(x)
    print("step")  # hazard
    return x + 1


def main():
    return [step(torch.ones(3)).sum().item() for _ in range(2)]


# truth: eager runs; aot_eager same; inductor same; graphs 2, breaks 1, recompilations 0
