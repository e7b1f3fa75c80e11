"""A traced function draws a random number: every call gets the first one.

area: meaning
named: NST301 house-random-in-traced
near: S311
"""

import random

import torch


@torch._dynamo.nonstrict_trace
def jittered(x):
    return x * random.uniform(0.5, 1.5)  # hazard


@torch.compile
def step(x):
    return jittered(x).sum()


def main():
    random.seed(0)
    return [len({round(step(torch.ones(3)).item(), 4) for _ in range(4)})]


# truth: eager runs; aot_eager wrong; inductor wrong; graphs 1, breaks 0, recompilations 0
