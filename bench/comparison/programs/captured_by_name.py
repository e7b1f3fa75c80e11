"""Which function is marked, and captures a global, depends on a variable of the environment.

area: meaning
named: NST101 error
"""

import os

import torch

mask = torch.ones(3)


def masked(x):
    return x * mask  # hazard


def doubled(x):
    return x * 2


chosen = torch._dynamo.nonstrict_trace(globals()[os.environ.get("LAYER", "masked")])


@torch.compile
def step(x):
    return chosen(x) + 1


def main():
    global mask
    first = step(torch.ones(3)).sum().item()
    mask = torch.zeros(3)
    return [first, step(torch.ones(3)).sum().item()]


# truth: eager runs; aot_eager wrong; inductor error; graphs 1, breaks 0, recompilations 0
