"""`torch.load` leaves `weights_only` to the version of torch: before 2.6 it ran what the file says.

area: security
named: TOR102 S614 pickles-in-pytorch house-unsafe-load
"""

import tempfile
from pathlib import Path

import torch


def load(path):
    return torch.load(path)  # hazard


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "checkpoint.pt")
        torch.save({"weight": torch.ones(3)}, path)
        return [load(path)["weight"].sum().item()]


# truth: eager runs; aot_eager same; inductor same
