"""Input noise whose strength Python's random module draws."""

import random

import torch


@torch._dynamo.nonstrict_trace
def jitter(x):
    strength = random.uniform(0.5, 1.5)
    return x * strength


@torch.compile(fullgraph=True)
def step(x):
    return jitter(x).sum()


def main():
    random.seed(0)
    x = torch.ones(4)
    sums = {round(step(x).item(), 4) for _ in range(5)}
    print("steps: 5, different strengths:", len(sums))


if __name__ == "__main__":
    main()
