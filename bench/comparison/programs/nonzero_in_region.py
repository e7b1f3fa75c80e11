"""A region selects by a mask: the size of the result depends on the data.

area: region
named: NST701 graph-break
"""

import torch


@torch.compile
def step(x):
    kept = x[x > 0]  # hazard
    return kept.sum()


def main():
    return [step(torch.linspace(-2, 2, 5)).item()]


# truth: eager runs; aot_eager same; inductor same; graphs 2, breaks 1, recompilations 0
