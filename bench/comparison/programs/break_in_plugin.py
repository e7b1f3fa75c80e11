"""A region calls code that the program makes from a text: there is no source to read.

area: region
named: NST701 graph-break
near: S102
"""

import torch

space = {}
exec("def peak(x):\n    return x / x.max().item()\n", space)


@torch.compile
def step(x):
    return space["peak"](x) + 1  # hazard


def main():
    return [step(torch.linspace(-2, 2, 5)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 3, breaks 2, recompilations 0
