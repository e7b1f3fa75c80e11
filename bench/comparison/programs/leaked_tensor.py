"""A traced function stores a tensor outside of it: a fake tensor stays behind.

area: meaning
named: NST207 error
"""

import torch

kept = []


@torch._dynamo.nonstrict_trace
def normalized(x):
    norm = x.norm()
    kept.append(norm)  # hazard
    return x / norm


@torch.compile
def step(x):
    return normalized(x) + 1


def main():
    kept.clear()
    step(torch.ones(4))
    return [float(kept[0])]


# truth: eager runs; aot_eager error; inductor error; graphs 1, breaks 0, recompilations 0
