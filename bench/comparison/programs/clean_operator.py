"""A custom operator with all that it needs.

area: clean
"""

import torch


@torch.library.custom_op("comparison::shifted", mutates_args=("x",))
def shifted(x: torch.Tensor) -> torch.Tensor:
    x.add_(1)
    return x * 2


@shifted.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile
def step(x):
    return shifted(x) + x


def main():
    return [step(torch.ones(3)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 0, recompilations 0
