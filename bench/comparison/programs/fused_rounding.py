"""Fused kernels keep bfloat16 values in float32 between operators, which eager rounds each time.

area: meaning
named: NST900
"""

import torch


@torch.compile
def step(x):
    for _ in range(20):
        x = x * 1.01  # hazard
    return x


def main():
    return [step(torch.ones(4, dtype=torch.bfloat16)).float().sum().item()]


# truth: eager runs; aot_eager same; inductor wrong; graphs 1, breaks 0, recompilations 0
