"""A region warns.

area: region
named: NST701 graph-break
near: B028
"""

import warnings

import torch


@torch.compile
def step(x):
    x = torch.tanh(x)
    warnings.warn("step is slow")  # hazard
    return x + 1


def main():
    return [step(torch.ones(3)).sum().item()]


# truth: eager warns UserWarning; aot_eager same; inductor same; graphs 2, breaks 1, recompilations 0
