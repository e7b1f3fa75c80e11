"""A region logs in its loop over the layers: all of it falls back to eager.

area: region
named: NST701 graph-break
"""

import logging

import torch
from torch import nn

logger = logging.getLogger(__name__)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, x):
        for index, layer in enumerate(self.layers):
            x = layer(x).tanh()
            logger.info("layer %d", index)  # hazard
        return x


def main():
    torch.manual_seed(0)
    encoder = torch.compile(Encoder())
    return [encoder(torch.ones(2, 4)).sum().item() for _ in range(2)]


# truth: eager runs; aot_eager same; inductor same; graphs 0, breaks 0, recompilations 0
