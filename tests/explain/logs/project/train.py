import sys

import torch

from models.encoder import Encoder, moved, timed


def train():
    model = torch.compile(Encoder(), backend="eager")
    for _ in range(10):
        model(torch.ones(2, 4))


def strict():
    torch.compile(timed, backend="eager", fullgraph=True)(torch.ones(4))


def test_moved():
    torch.compile(moved)(torch.ones(4))


if __name__ == "__main__":
    {"train": train, "strict": strict, "moved": test_moved}[sys.argv[1]]()
