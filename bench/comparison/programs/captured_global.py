"""A traced function reads a global tensor, which the program replaces.

area: meaning
named: NST101 error
"""

import torch

mask = torch.ones(3)


@torch._dynamo.nonstrict_trace
def masked(x):
    return x * mask  # hazard


@torch.compile
def step(x):
    return masked(x) + 1


def main():
    global mask
    first = step(torch.ones(3)).sum().item()
    mask = torch.zeros(3)
    return [first, step(torch.ones(3)).sum().item()]


# truth: eager runs; aot_eager wrong; inductor error; graphs 1, breaks 0, recompilations 0
