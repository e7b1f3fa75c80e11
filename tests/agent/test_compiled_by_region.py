"""What is compiled, region by region, in a process whose calls of regions nobody follows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

pytestmark = pytest.mark.torch

ANALYSIS = Path(__file__).resolve().parents[2] / "analysis"
HEAD = """\
import functools
import json
import sys

import torch
from nonstrict_agent.observe.compiling import Compilations

compilations = Compilations(lambda path: path == __file__, by_region=True)
compilations.install()
compiled = functools.partial(torch.compile, backend="eager")
told = []


def tell():
    told.append(compilations.taken_by_region())


"""
PROGRAM = """\
def helper(x):
    print("breaks")
    return x * 2


def step(x, n=1):
    return helper(x + n).sum()


class Net(torch.nn.Module):
    def forward(self, x):
        return x + 1

    def encode(self, x):
        return x + 2


@torch._dynamo.disable
def aside(x):
    return region(x)


@compiled
def outer(x):
    print("first")
    return aside(x) + 1


x = torch.ones(3)
region = compiled(step)
region(x)
tell()  # 0: two functions of one region
region(x, 2)
region(x, 3)
tell()  # 1: compiled again
torch._dynamo.reset()
region(x)
tell()  # 2: as if for the first time
torch._dynamo.reset()
compiled(Net())(x)
net = Net()
net.compile(backend="eager")
torch._dynamo.reset()
net(x)
compiled(torch.nn.Sequential(torch.nn.ReLU()))(x)
tell()  # 3: modules
torch._dynamo.reset()
compiled(functools.partial(step, n=2))(x)
tell()  # 4: a partial application
torch._dynamo.reset()
outer(x)
tell()  # 5: one region calls another
torch.export.export(Net(), (x,), strict=True)
tell()  # 6: nothing of a region
compiled(lambda x: 3)(x)
tell()  # 7: nothing to compile
compiled(Net().encode)(x)
tell()  # 8: another method of a module
sys.stdout.write("\\n" + json.dumps(told))
"""


class Told(NamedTuple):
    """A region, the graphs that were made for it, in which lines it broke, and for which guards it was made again."""

    function: str
    line: int
    graphs: int
    breaks: list[int]
    again: list[str]
    era: int


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Any]]]:
    path = tmp_path_factory.mktemp("regions") / "program.py"
    path.write_text(HEAD + PROGRAM)
    run = subprocess.run(
        [sys.executable, str(path)],
        env={"PYTHONPATH": str(ANALYSIS), "OMP_NUM_THREADS": "1", "PATH": "", "HOME": str(path.parent)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    return path, json.loads(run.stdout.splitlines()[-1])


def line_of(text: str) -> int:
    return [*f"{HEAD}{PROGRAM}".split("\n")].index(text) + 1


def regions(told: tuple[Path, list[list[Any]]], step: int) -> list[Told]:
    path, steps = told
    assert all(one["path"] == str(path) for one in steps[step])
    return [
        Told(
            one["function"],
            one["line"],
            len(one["compiled"]["graphs"]),
            [broken["lines"][-1][1] for broken in one["compiled"]["breaks"]],
            [again["guard"] for again in one["compiled"]["again"]],
            one["era"],
        )
        for one in steps[step]
    ]


def test_what_a_region_calls_is_its_own(told: tuple[Path, list[list[Any]]]):
    step, broken = line_of("def step(x, n=1):"), line_of('    print("breaks")')
    assert regions(told, 0) == [Told("step", step, 3, [broken], [], 0)]


def test_what_is_compiled_again_stands_by_itself(told: tuple[Path, list[list[Any]]]):
    again = regions(told, 1)
    assert [(one.function, one.graphs, one.again) for one in again] == [("step", 1, ["n == 1"])]
    assert told[1][1][0]["compiled"]["again"][0]["seconds"] > 0


def test_torch_may_be_made_to_forget(told: tuple[Path, list[list[Any]]]):
    assert [(one.graphs, one.again, one.era) for one in regions(told, 2)] == [(3, [], 1)]


def test_modules_and_those_of_torch(told: tuple[Path, list[list[Any]]]):
    forward = line_of("    def forward(self, x):")
    called = line_of("compiled(torch.nn.Sequential(torch.nn.ReLU()))(x)")
    assert [one[:3] for one in regions(told, 3)] == [
        ("Net.forward", forward, 1),
        ("Net.forward", forward, 1),
        ("Sequential.forward", called, 1),
    ]
    assert [one.era for one in regions(told, 3)] == [2, 3, 3]


def test_a_method_of_a_module_is_itself(told: tuple[Path, list[list[Any]]]):
    assert [one[:3] for one in regions(told, 8)] == [("Net.encode", line_of("    def encode(self, x):"), 1)]


def test_a_partial_application_is_its_function(told: tuple[Path, list[list[Any]]]):
    assert [one.function for one in regions(told, 4)] == ["step"]


def test_the_innermost_region_counts(told: tuple[Path, list[list[Any]]]):
    found = {one.function: one.graphs for one in regions(told, 5)}
    assert found == {"outer": 1, "step": 3}


def test_what_no_region_compiles(told: tuple[Path, list[list[Any]]]):
    assert regions(told, 6) == []


def test_why_nothing_is_compiled(told: tuple[Path, list[list[Any]]]):
    assert [(one.function, one.graphs) for one in regions(told, 7)] == [("<lambda>", 0)]
    assert told[1][7][0]["compiled"]["skipped"]
