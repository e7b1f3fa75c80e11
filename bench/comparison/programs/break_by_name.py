"""What a region calls is looked up by a name that a file holds: only a run knows that it breaks the graph.

area: region
named: NST701 graph-break
"""

import json
import tempfile
from pathlib import Path

import torch


def smooth(x):
    return x.tanh()


def peak(x):
    return x / x.max().item()  # hazard


def chosen():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "settings.json")
        path.write_text('{"norm": "peak"}')
        return globals()[json.loads(path.read_text())["norm"]]


norm = chosen()


@torch.compile
def step(x):
    return norm(x) + 1


def main():
    return [step(torch.linspace(-2, 2, 5)).sum().item()]


# truth: eager runs; aot_eager same; inductor same; graphs 3, breaks 2, recompilations 0
