"""A region gets another string at each call, and is compiled for each.

area: region
named: NST803 recompile-limit recompilation
"""

import torch


@torch.compile
def step(x, name):
    return x * len(name)  # hazard


def main():
    return [step(torch.ones(3), f"layer.{index}").sum().item() for index in range(12)]


# truth: eager runs; aot_eager same; inductor same; graphs 8, breaks 0, recompilations 8
