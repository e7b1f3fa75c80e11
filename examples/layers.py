"""A model that logs in its loop over the layers: torch gives up on `forward` and runs all of it in eager mode."""

import logging

import torch
from torch import nn
from torch._dynamo.utils import counters

logger = logging.getLogger(__name__)


class Encoder(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(depth))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x).relu()
            logger.info("layer %d", index)
        return x


def main():
    counters.clear()
    encoder = torch.compile(Encoder())
    for _ in range(3):
        encoder(torch.ones(2, 4))
    print(f"graphs compiled: {counters['stats']['unique_graphs']}")


if __name__ == "__main__":
    main()
