"""A region reads the clock.

area: region
named: NST701 graph-break
"""

import time

import torch


@torch.compile
def step(x, since):
    return x * (time.time() > since)  # hazard


def main():
    return [step(torch.ones(3), 0.0).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 1, recompilations 0
