"""With the same seed, a region draws other random numbers than eager does.

area: meaning
named: NST301 NST900
"""

import torch


@torch.compile
def noisy(x):
    return x + torch.rand_like(x)  # hazard


def main():
    torch.manual_seed(0)
    return [noisy(torch.zeros(8)).sum().item()]


# truth: eager runs; aot_eager same; inductor wrong; graphs 1, breaks 0, recompilations 0
