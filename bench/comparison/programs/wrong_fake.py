"""The fake of a custom operator has another dtype than what the operator returns.

area: meaning
named: NST608
"""

import torch


@torch.library.custom_op("comparison::rounded", mutates_args=())
def rounded(x: torch.Tensor) -> torch.Tensor:
    return x.round().to(torch.int64)


@rounded.register_fake
def _(x):
    return torch.empty_like(x)  # hazard


@torch.compile
def step(x):
    return rounded(x) / 2


def main():
    return [step(torch.full((3,), 3.0)).sum().item()]


# truth: eager runs; aot_eager same; inductor wrong; graphs 1, breaks 0, recompilations 0
