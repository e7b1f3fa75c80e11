"""A traced function counts its calls: the count stays at what tracing made of it.

area: meaning
named: NST203
"""

import torch

seen = {"batches": 0}


@torch._dynamo.nonstrict_trace
def counted(x):
    seen["batches"] += 1  # hazard
    return x * 2


@torch.compile
def step(x):
    return counted(x) + 1


def main():
    seen["batches"] = 0
    for _ in range(10):
        step(torch.ones(3))
    return [seen["batches"]]


# truth: eager runs; aot_eager wrong; inductor wrong; graphs 1, breaks 0, recompilations 0
