"""A learning rate that varies is a Python float: the region is compiled a second time.

area: region
named: NST804 recompilation
"""

import torch


@torch.compile
def update(weight, rate):
    return weight - rate * weight  # hazard


def main():
    weight = torch.ones(3)
    for step in range(4):
        weight = update(weight, 0.1 / (step + 1))
    return [weight.sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 2, breaks 0, recompilations 1
