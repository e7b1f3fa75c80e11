"""A model that counts its calls and speaks at every second one: there its graph breaks."""

import torch
from torch import nn
from torch._dynamo.utils import counters


class Tracker(nn.Module):
    def __init__(self, every=2):
        super().__init__()
        self.proj = nn.Linear(4, 4)
        self.every = every
        self.calls = 0

    def forward(self, x):
        self.calls += 1
        x = self.proj(x).relu()
        if self.calls % self.every == 0:
            print(f"call {self.calls}")
        return x * 2


def main():
    counters.clear()
    model = torch.compile(Tracker())
    for _ in range(2):
        model(torch.ones(2, 4))
    print(f"graph breaks: {sum(counters['graph_break'].values())}")


if __name__ == "__main__":
    main()
