"""Call every operator, plain and compiled."""

import os

import torch

from fastops import gated, histogram, normalised, record_norm
from fastops.histogram import first_rows
from fastops.wrappers import checked_rotation


@torch.compile(fullgraph=True)
def block(x, history):
    return gated(x, history) + normalised(x)


@torch.compile(fullgraph=True)
def counted(x):
    return histogram.histogram(torch.sigmoid(x), 4) * 0.5


@torch.compile(fullgraph=True)
def halved(x, scale):
    y = torch.ops.fastclip.halve(x) + 1
    return torch.ops.fastclip.rescale(y, scale) + scale


@torch.compile(fullgraph=True)
def head(x):
    rows = first_rows(x, 2)
    return rows * 2


def main():
    torch.manual_seed(0)
    history = []
    scale = torch.tensor(4.0)
    for step in range(4):
        if step == 2:
            os.environ["FASTOPS_EXACT"] = "1"
        x = torch.randn(6, 8)
        print(step, block(x, history).sum().item(), len(history))
        print(counted(x).tolist(), halved(x, scale).mean().item(), scale.item())
        print(head(x).shape, record_norm(x).max().item(), checked_rotation(x).mean().item())
    print(histogram.seen)


if __name__ == "__main__":
    main()
