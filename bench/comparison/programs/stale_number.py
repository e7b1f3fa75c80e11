"""A float that varies is a constant of the graph that Inductor takes from its cache.

area: meaning
named: NST805
near: NST804 recompilation
"""

import torch


@torch.compile
def step(x, s):
    return (x * s).clamp(max=s * 0.5)  # hazard


def main():
    x = torch.linspace(-2, 3, 12)
    return [step(x, s).max().item() for s in (0.5, 0.8, 1.1, 1.7)]


# truth: eager runs; aot_eager same; inductor wrong; graphs 4, breaks 0, recompilations 3
