"""Projects that tests open: a finding in one file, a call chain through two, and a notebook."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: A finding in row 9.
SCALED = """\
import torch
from torch._dynamo import nonstrict_trace

SCALE = 2.0


@nonstrict_trace
def scaled(x):
    return x * SCALE


@torch.compile(fullgraph=True)
def layer(x):
    return scaled(x)


def main():
    global SCALE
    x = torch.ones(3)
    layer(x)
    SCALE = 3.0
    layer(x)


if __name__ == "__main__":
    main()
"""

#: The hazard is in row 12 of this file, and belongs to the function that MODEL marks.
HELPERS = """\
import torch

SCALE = torch.ones(3)


def rescale(factor):
    global SCALE
    SCALE = SCALE * factor


def scaled(x):
    return x * SCALE
"""
MODEL = """\
import torch
from torch._dynamo import nonstrict_trace

from helpers import rescale, scaled


@nonstrict_trace
def attend(x):
    return scaled(x) + 1


@torch.compile(fullgraph=True)
def layer(x):
    return attend(x)


def main():
    x = torch.ones(3)
    layer(x)
    rescale(2)
    layer(x)


if __name__ == "__main__":
    main()
"""


#: Several operators in each of the rows 9 to 11 of the marked function.
ATTENTION = """\
import torch
from torch._dynamo import nonstrict_trace

TEMPERATURE = 1.0


@nonstrict_trace
def attend(query, key, value):
    scores = query @ key.transpose(-2, -1) / TEMPERATURE
    weights = torch.softmax(scores, dim=-1)
    return weights @ value


@torch.compile(fullgraph=True)
def layer(x):
    return x + attend(x, x, x)


def main():
    global TEMPERATURE
    x = torch.ones(2, 8, 16)
    layer(x)
    TEMPERATURE = 0.5
    layer(x)


if __name__ == "__main__":
    main()
"""

_CELL = {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None}

#: A captured tensor in row 9, and the only call of its function in another file.
CAPTURING = """\
import torch
from torch._dynamo import nonstrict_trace

SCALE = torch.ones(3)


@nonstrict_trace
def scaled(x):
    return x * SCALE
"""
CALLING = """\
import capturing
import torch


@torch.compile(fullgraph=True)
def layer(x):
    return capturing.scaled(x) + 1
"""
#: The result of a marker is discarded in row 8.
DISCARDING = """\
import torch


def scaled(x):
    return x * 2


torch._dynamo.nonstrict_trace(scaled)


@torch.compile
def layer(x):
    return scaled(x)
"""


def write(folder: Path, **files: str) -> Path:
    """Write Python files by their names into a folder; the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def write_notebook(path: Path, *cells: str) -> None:
    """Write a notebook of code cells that was never run."""
    made = [
        {
            "cell_type": "code",
            "id": f"cell{number}",
            "metadata": {},
            "outputs": [],
            "execution_count": None,
            "source": text,
        }
        for number, text in enumerate(cells)
    ]
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": made, "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


#: A plain region that breaks twice.
TRAIN = """\
import torch

from layers import Net

net = Net()


@torch.compile
def step(x):
    y = net(x)
    print("loss", y.sum().item())
    return y * 2


def main():
    for size in (4, 8):
        step(torch.ones(size, 8))


if __name__ == "__main__":
    main()
"""
LAYERS = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x):
        return self.linear(x).relu()
"""
#: Another file of the project: a region of its own.
OTHER = """\
import torch

from layers import Net

net = Net()


@torch.compile
def evaluate_{number}(x, threshold):
    y = net(x)
    if y.mean() > threshold:
        return y
    return y + {number}


def run_{number}():
    return evaluate_{number}(torch.ones(3, 8), 0.5)
"""
FILES = 15


def training(folder: Path) -> Path:
    """Write a project of fifteen files with plain regions; its folder."""
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[project]\nname = "training"\nversion = "1"\n', encoding="utf-8")
    (folder / "train.py").write_text(TRAIN, encoding="utf-8")
    (folder / "layers.py").write_text(LAYERS, encoding="utf-8")
    for number in range(FILES - 2):
        (folder / f"evaluation{number}.py").write_text(OTHER.format(number=number), encoding="utf-8")
    return folder
