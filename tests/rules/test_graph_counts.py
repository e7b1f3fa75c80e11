"""Into how many graphs regions are compiled: what the analysis says, and what torch makes of the same program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path

    from tests.warm.process import Warm

PROGRAM = """
import torch
from torch import nn


def noisy(x: torch.Tensor):
    x = x + 1
    print("here")
    return x * 2


def quiet(x: torch.Tensor):
    return x + 1


@torch.compile(backend="eager")
def whole(x: torch.Tensor):
    return quiet(x).sin()


@torch.compile(backend="eager")
def twice(x: torch.Tensor):
    y = x.sin()
    v = y.sum().item()
    z = y * v
    print("here")
    return z.cos()


@torch.compile(backend="eager")
def at_the_end(x: torch.Tensor):
    return x.sin().sum().item()


@torch.compile(backend="eager")
def at_the_beginning(x: torch.Tensor):
    print("here")
    x += 1
    return x


@torch.compile(backend="eager")
def nested(x: torch.Tensor):
    return noisy(x.sin()).cos()


@torch.compile(backend="eager")
def in_a_loop(x: torch.Tensor):
    for _ in range(3):
        x = quiet(x)
        print("here")
    return x.cos()


@torch.compile(backend="eager")
def in_a_helper_in_a_loop(x: torch.Tensor):
    for _ in range(3):
        x = noisy(x)
    return x.cos()


class Layers(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(2))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
            print("here")
        return x


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3)
        self.second = nn.Linear(3, 3)

    def forward(self, x):
        x = self.first(x)
        print("here")
        return self.second(x).relu()


layers = torch.compile(Layers(), backend="eager")
pair = torch.compile(Pair(), backend="eager")

whole(torch.ones(3))
twice(torch.ones(3))
at_the_end(torch.ones(3))
at_the_beginning(torch.ones(3))
nested(torch.ones(3))
in_a_loop(torch.ones(3))
in_a_helper_in_a_loop(torch.ones(3))
layers(torch.ones(3))
pair(torch.ones(3))
"""
#: Compiles each region of the program by itself, and counts the graphs.
COUNTING = """
import contextlib, io, json, sys
import torch
import torch._dynamo

graphs = []


def backend(module, inputs):
    graphs.append(module)
    return module.forward


torch._dynamo.register_backend(backend, name="counting")
code = open(sys.argv[1]).read().replace('backend="eager"', 'backend="counting"')
head, calls = code.split("\\n\\nwhole(", 1)
space, counts = {}, {}
exec(compile(head, sys.argv[1], "exec"), space)
with contextlib.redirect_stdout(io.StringIO()):
    for line in ("whole(" + calls).split():
        torch._dynamo.reset()
        graphs.clear()
        eval(line, space)
        counts[line.partition("(")[0]] = len(graphs)
print(json.dumps(counts))
"""


def test_the_graphs_are_as_many_as_torch_makes(warm: Warm, tmp_path: Path):
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "counting.py").write_text(COUNTING)
    done = warm.script(["counting.py", "program.py"], tmp_path)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    made["Layers.forward"], made["Pair.forward"] = made.pop("layers"), made.pop("pair")
    path = str(tmp_path / "program.py")
    looked = check([path], default_settings(str(tmp_path)), RunOptions(jobs=1, fixes=None, regions=True)).looked
    told = {region.function: region.graphs for region in looked.regions}
    assert told == {name: (count, count) for name, count in made.items()}
