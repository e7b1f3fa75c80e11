"""Options of torch come from a text, which only a run knows: a break is reported, and refuted by the experiment."""

import json
import os

import torch
from torch._dynamo.utils import counters

OPTIONS = json.loads(os.environ.get("DYNAMO_OPTIONS", '{"capture_scalar_outputs": true}'))
for name, value in OPTIONS.items():
    setattr(torch._dynamo.config, name, value)


@torch.compile
def normalized(x):
    return x / x.abs().max().item()


def main():
    counters.clear()
    normalized(torch.ones(6, 4))
    print(f"graphs compiled: {counters['stats']['unique_graphs']}")


if __name__ == "__main__":
    main()
