"""A project whose calls are recorded, and `nonstrict record` over it in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

SCALE = torch.ones(3)


@dataclass
class Options:
    factor: float = 2.0


torch.utils._pytree.register_dataclass(Options)


@torch._dynamo.nonstrict_trace
def scaled(x, options: Options | None = None):
    return shifted(x) * SCALE


@torch._dynamo.allow_in_graph
def shifted(x):
    return x + 1


@torch.library.custom_op("project::doubled", mutates_args=())
def doubled(x: torch.Tensor, times: int) -> torch.Tensor:
    return x * times


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x):
        return scaled(self.linear(x), Options())

    @torch._dynamo.nonstrict_trace
    def masked(self, x, mask):
        return self.linear(x) * mask


def outer(factor):
    @torch._dynamo.nonstrict_trace
    def inner(x):
        return x * factor

    return inner


@torch._dynamo.nonstrict_trace
def run(layer, x, rows=None):
    return layer(x)


@torch.compile(fullgraph=True)
def region(x):
    return scaled(x)


@torch._dynamo.nonstrict_trace
def refuses(x):
    raise ValueError("no")
"""
SCRIPT = """\
import multiprocessing
import os
import sys
import traceback

import torch
from torch.fx.experimental.proxy_tensor import make_fx

import model


@torch._dynamo.nonstrict_trace
def own(x, label):
    return x


def work(size):
    print(model.outer(2)(torch.zeros(size, 7)).shape, flush=True)


def plain(x):
    return model.scaled(x).sum()


if __name__ == "__main__":
    torch.manual_seed(0)
    net = model.Net()
    fast = torch.compile(net, fullgraph=True)
    x = torch.randn(4, 3)
    print(type(fast).__name__, fast(x).sum().item())
    print(net.masked(x, torch.tensor([True, False, True])).sum().item())
    model.outer(3)(x), model.outer(4)(x)
    print(model.region(x).sum().item(), model.doubled(x, 3).sum().item())
    for size in range(50):
        own(torch.zeros(size + 1, 3), "a" * 5000 if size else "short")
    model.run(nn := torch.nn.Linear(3, 2), x, rows=list(range(5000)))
    print(len(make_fx(plain)(x).graph.nodes), torch.rand(1).item())
    try:
        model.refuses(x)
    except ValueError:
        print([frame.name for frame in traceback.extract_tb(sys.exc_info()[2])])
    sys.stdout.flush()
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        process = context.Process(target=work, args=(1 + (method == "spawn"),))
        process.start()
        process.join()
    os._exit(7)
"""
PYTESTS = """\
import pytest
import torch

import model


@pytest.mark.parametrize("size", [1, 2])
def test_scaled(size):
    assert model.scaled(torch.zeros(size, 3)).shape == (size, 3)


def test_that_fails():
    model.run(torch.nn.Linear(3, 2), torch.zeros(9, 3))
    assert model.region(torch.zeros(5, 3)).sum() == 0
"""


def project(directory: Path) -> Path:
    for name, text in (("model.py", MODEL), ("script.py", SCRIPT), ("test_model.py", PYTESTS)):
        (directory / name).write_text(text, encoding="utf-8")
    return directory


def record(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return run(directory, "-m", "nonstrict", "record", *arguments)


def run(directory: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=directory,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def records(directory: Path, name: str) -> dict[str, list[Any]]:
    """Calls by function."""
    document = json.loads((directory / ".nonstrict" / "inputs" / f"{name}.json").read_text(encoding="utf-8"))
    return {function: entry["calls"] for function, entry in document["functions"].items()}
