"""The training loop prints and asks for numbers, around the region and not in it.

area: clean
"""

import torch


@torch.compile
def step(x):
    return torch.tanh(x).sum()


def main():
    total = 0.0
    for index in range(3):
        loss = step(torch.ones(3) * index)
        print(f"step {index}: {loss.item():.2f}")
        total += loss.item()
    return [total]


# truth: eager runs; aot_eager same; inductor same; graphs 1, breaks 0, recompilations 0
