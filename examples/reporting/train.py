"""Trains a small model; the normalisation is marked because Dynamo cannot follow it."""

import torch
from torch import nn

from reporting.layers import normalise
from reporting.telemetry import seen


@torch._dynamo.nonstrict_trace
def prepare(x):
    return normalise(x) * 0.5


def main():
    torch.manual_seed(0)
    model = nn.Linear(16, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    @torch.compile(fullgraph=True)
    def loss_of(x):
        return model(prepare(x)).square().mean()

    for _ in range(5):
        optimizer.zero_grad()
        loss_of(torch.randn(32, 16)).backward()
        optimizer.step()
    print("batches trained: 5, batches counted:", seen["batches"])


if __name__ == "__main__":
    main()
