"""A checkpoint is read as tensors only, and a method that is called `load` is something else.

area: clean
"""

import tempfile
from pathlib import Path

import torch


class Store:
    def load(self, path):
        return torch.load(path, weights_only=True)


def main():
    model = torch.nn.Linear(2, 2)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "weights.pt")
        torch.save(model.state_dict(), path)
        model.load_state_dict(Store().load(path))
    return [len(list(model.parameters()))]


# truth: eager runs; aot_eager same; inductor same
