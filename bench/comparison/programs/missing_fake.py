"""A custom operator without a fake: no region can call it.

area: meaning
named: NST606 error graph-break
"""

import torch


@torch.library.custom_op("comparison::doubled", mutates_args=())  # hazard
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x) + 1


def main():
    return [step(torch.ones(3)).sum().item()]


# truth: eager runs; aot_eager error; inductor error; graphs 0, breaks 0, recompilations 0
