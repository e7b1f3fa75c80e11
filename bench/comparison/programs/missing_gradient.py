"""A custom operator without a formula for autograd is trained through.

area: meaning
named: NST611 error
"""

import torch


@torch.library.custom_op("comparison::tripled", mutates_args=())  # hazard
def tripled(x: torch.Tensor) -> torch.Tensor:
    return x * 3


@tripled.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile
def step(weight):
    return tripled(weight).sum()


def main():
    weight = torch.ones(3, requires_grad=True)
    step(weight).backward()
    return [weight.grad.sum().item()]


# truth: eager raises RuntimeError; aot_eager same; inductor same; graphs 0, breaks 0, recompilations 0
