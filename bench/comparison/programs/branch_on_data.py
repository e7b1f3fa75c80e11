"""A region branches on the values of a tensor.

area: region
named: NST701 graph-break
"""

import torch


@torch.compile
def step(x):
    x = x * 2
    if x.sum() > 0:  # hazard
        x = -x
    return x + 1


def main():
    return [step(torch.ones(3)).sum().item(), step(-torch.ones(3)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 3, breaks 0, recompilations 0
