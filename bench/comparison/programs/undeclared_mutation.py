"""A custom operator changes its argument and does not declare it.

area: meaning
named: NST607
"""

import torch


@torch.library.custom_op("comparison::bump", mutates_args=())
def bump(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)  # hazard
    return x * 2


@bump.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile
def step(x):
    before = x * 3
    doubled = bump(x)
    return before + doubled, x * 3


def main():
    return [part.sum().item() for part in step(torch.ones(3))]


# truth: eager runs; aot_eager same; inductor wrong; graphs 1, breaks 0, recompilations 0
