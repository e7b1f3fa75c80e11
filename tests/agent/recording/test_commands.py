"""Whole commands under `nonstrict record`: what is kept, and that they behave as they do without it."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from tests.agent.recording.projects import project, record, records, run

if TYPE_CHECKING:
    from pathlib import Path


def shapes(calls: list[Any]) -> list[list[list[int]]]:
    return [[spec["shape"] for spec in call["args"] if spec["kind"] == "tensor"] for call in calls]


def test_a_script_that_compiles_forks_spawns_and_ends_abruptly(tmp_path: Path):
    project(tmp_path)
    alone = run(tmp_path, "-c", f"import torch; torch._dynamo.set_stance('force_eager'); {AS_MAIN}")
    recorded = record(tmp_path, "--eager", "--limit", "6", "--", sys.executable, "script.py")
    assert alone.returncode == recorded.returncode == 7
    assert recorded.stdout == alone.stdout.replace("'<string>', ", "")
    assert "'wrapped', 'refuses']" in recorded.stdout
    assert recorded.stderr.splitlines()[-1].startswith("Recorded ")

    found = records(tmp_path, "model.py")
    assert set(found) == {
        "Net.forward",
        "Net.masked",
        "doubled",
        "outer.inner",
        "region",
        "run",
        "scaled",
        "shifted",
    }
    (forward,) = found["Net.forward"]
    assert [spec["kind"] for spec in forward["args"]] == ["module", "tensor"]
    assert forward["args"][0]["class"] == "model:Net"
    mask = found["Net.masked"][0]["args"][2]
    assert (mask["dtype"], mask["low"], mask["high"]) == ("bool", 0, 1)
    options = [spec for call in found["scaled"] for spec in call["args"] if spec["kind"] == "dataclass"]
    assert [spec["class"] for spec in options] == ["model:Options"]
    assert found["doubled"][0]["args"][1] == {"kind": "literal", "value": 3}
    # The module from here, a fork, and a process of its own.
    assert sorted(shapes(found["outer.inner"])) == [[[1, 7]], [[2, 7]], [[4, 3]]]
    assert found["run"][0]["args"][0]["class"] == "torch.nn.modules.linear:Linear"
    assert found["run"][0]["kwargs"]["rows"]["kind"] == "unknown"
    # Nothing of the values that make_fx traces with.
    assert len(found["shifted"]) == len(found["scaled"]) == 2

    own = records(tmp_path, "script.py")
    assert set(own) == {"own", "plain"}
    assert 0 < len(own["own"]) <= 6
    assert {call["args"][1]["kind"] for call in own["own"]} == {"literal", "unknown"}
    assert "aaaa" not in json.dumps(own)


#: The script as the main module, in a process whose compiler is off.
AS_MAIN = "import runpy; runpy.run_path('script.py', run_name='__main__')"


def test_pytest_with_a_worker(tmp_path: Path):
    project(tmp_path)
    pytests = ["-m", "pytest", "-q", "-n", "1", "-p", "no:cacheprovider"]
    completed = record(tmp_path, "--eager", "--", sys.executable, *pytests)
    assert completed.returncode == 1
    assert "1 failed, 2 passed" in completed.stdout
    assert "nonstrict_agent" not in completed.stdout
    found = records(tmp_path, "model.py")
    assert [[1, 3]] in shapes(found["scaled"])
    assert [[2, 3]] in shapes(found["scaled"])
    assert [[5, 3]] in shapes(found["region"])
    assert [[9, 3]] in shapes(found["run"])


def test_with_the_compiler_on_calls_and_compilations_are_kept(tmp_path: Path):
    project(tmp_path)
    code = (
        "import torch, model; x = torch.ones(6, 3); from torch._dynamo.testing import CompileCounter as C; c = C();"
        "torch.compile(lambda x: model.shifted(x) * 2, backend=c)(x); assert c.frame_count == 1; "
        "torch.compile(model.shifted, backend='aot_eager')(torch.ones(8)); model.outer(2)(x);"
        "from torch._dynamo.utils import counters; print(dict(counters['frames']))"
    )
    completed = record(tmp_path, "--", sys.executable, "-c", code)
    assert completed.returncode == 0, completed.stderr
    # Nothing of ours is compiled.
    assert completed.stdout == run(tmp_path, "-c", code).stdout
    found = records(tmp_path, "model.py")
    # The function itself in the graph of a backend that runs it, and a region; a trace by AOT gives nothing.
    assert shapes(found["shifted"]) == [[[8]], [[6, 3]]]
    assert shapes(found["outer.inner"]) == [[[6, 3]]]
    assert not any("traced" in call for calls in found.values() for call in calls)
    assert completed.stderr.endswith(
        "Kept 1 compiled function, 0 breaks, 0 recompilations; `nonstrict check` shows them.\n"
    )


TRACED = """\
import torch


@torch._dynamo.nonstrict_trace
def gather(x, index, times):
    return x[index] * times


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, index, times):
        return self.through(gather(x, index, times), index.flip(0))

    @torch._dynamo.nonstrict_trace
    def through(self, x, index):
        return self.linear(x)[index]


@torch.compile(backend="aot_eager")
def region(net, x, index, times):
    return net(x, index, times)
"""
TRACED_RUN = """\
import torch

import model

net = model.Net()
for size in (3, 5, 6):
    model.region(net, torch.randn(8, 4), torch.arange(size), size).sum().backward()
counters = torch._dynamo.utils.counters
print(len(counters["graph_break"]), dict(counters["frames"]))
"""


def test_what_is_only_traced_is_kept_as_far_as_it_is_known(tmp_path: Path):
    (tmp_path / "model.py").write_text(TRACED)
    (tmp_path / "nonstrict.toml").write_text("")
    completed = record(tmp_path, "--", sys.executable, "-c", TRACED_RUN)
    assert completed.stdout == run(tmp_path, "-c", TRACED_RUN).stdout == "0 {'total': 2, 'ok': 2}\n"
    found = records(tmp_path, "model.py")
    x = {"kind": "tensor", "shape": [8, 4], "dtype": "float32", "device": "cpu", "requires_grad": False}
    index = {"kind": "tensor", "dtype": "int64", "device": "cpu", "requires_grad": False, "low": 0}
    # Inputs of the region stand for real tensors; torch says what symbolic numbers are now.
    assert found["gather"] == [
        {
            "args": [x, {**index, "shape": [size], "high": size - 1}, {"kind": "literal", "value": size}],
            "kwargs": {},
            "result": {"kind": "tensor", "shape": [size, 4], "dtype": "float32", "device": "cpu"},
        }
        for size in (3, 5)
    ]
    # Of what is computed in the region, only what it is like.
    first = found["Net.through"][0]
    assert first["traced"]
    assert first["args"][0]["children"]["linear"]["state"]["weight"]["shape"] == [4, 4]
    assert first["args"][1:] == [
        {**x, "shape": [3, 4]},
        {"kind": "tensor", "shape": [3], "dtype": "int64", "device": "cpu", "requires_grad": False},
    ]

    # A call with real values takes the place of the same one that was traced.
    code = "import torch, model; model.Net().through(torch.randn(3, 4), torch.arange(3))"
    assert record(tmp_path, "--", sys.executable, "-c", code).returncode == 0
    through = records(tmp_path, "model.py")["Net.through"]
    assert [("traced" in call, call["args"][2]["shape"]) for call in through] == [(False, [3]), (True, [5])]
    assert through[0]["args"][2]["high"] == 2


REFUSED = """\
import torch

LIMIT = torch.tensor(1.0)


@torch._dynamo.nonstrict_trace
def clip(x):
    return x.clamp(max=x.max().item())


@torch.compile(fullgraph=True, backend="aot_eager")
def region(x, size):
    return clip(x) if size else x + torch.ones(4)


for sizes in ((3, 1), (5, 0)):
    try:
        region(torch.ones(sizes[0]), sizes[1])
    except Exception as error:
        print(type(error).__name__)
"""


def test_what_torch_refuses_is_kept_and_what_the_program_does_wrong_is_not(tmp_path: Path):
    (tmp_path / "model.py").write_text(REFUSED)
    completed = record(tmp_path, "--", sys.executable, "model.py")
    assert completed.stdout.splitlines()[1] == "TorchRuntimeError"
    found = records(tmp_path, "model.py")
    assert {name: shapes(calls) for name, calls in found.items()} == {"clip": [[[3]]], "region": [[[3]]]}
    assert "result" not in found["region"][0]


PYTESTS = """\
import pytest
import torch

import model


@pytest.mark.parametrize("size", [2, 4, 5])
def test_shape(size):
    assert model.region(model.Net(), torch.randn(8, 4), torch.arange(size), 2).shape == (size, 4)


def test_that_fails():
    assert model.region(model.Net(), torch.randn(8, 4), torch.arange(9), 2) is None
"""
TRACED_TESTS = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_region.py"]


def test_tests_run_as_they_do_alone(tmp_path: Path):
    (tmp_path / "model.py").write_text(TRACED)
    (tmp_path / "test_region.py").write_text(PYTESTS)
    (tmp_path / "nonstrict.toml").write_text("")
    alone = run(tmp_path, *TRACED_TESTS)
    recorded = record(tmp_path, "--", sys.executable, *TRACED_TESTS)
    assert alone.returncode == recorded.returncode == 1
    assert "1 failed, 3 passed" in recorded.stdout
    assert [call["args"][1]["shape"] for call in records(tmp_path, "model.py")["gather"]] == [[2], [4], [5]]
    assert "Kept 1 compiled function, 0 breaks, " in recorded.stderr


RANKS = """\
import sys

import torch
import torch.distributed as dist

import model

dist.init_process_group("gloo")
net = model.Net()
dist.all_reduce(torch.ones(2))
for size in (3, 5) if dist.get_rank() == 0 else (3, 5, 7):
    model.region(net, torch.randn(8, 4), torch.arange(size), size).sum().backward()
# One write, so that the lines of two ranks do not run into each other.
sys.stdout.write(f"rank {dist.get_rank()}\\n")
dist.destroy_process_group()
"""


def test_ranks_of_a_job_are_recorded_together(tmp_path: Path):
    (tmp_path / "model.py").write_text(TRACED)
    (tmp_path / "train.py").write_text(RANKS)
    (tmp_path / "nonstrict.toml").write_text("")
    torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    completed = record(tmp_path, "--", sys.executable, *torchrun, "train.py")
    assert completed.returncode == 0, completed.stderr
    assert sorted(completed.stdout.splitlines()) == ["rank 0", "rank 1"]
    (kept,) = (tmp_path / ".nonstrict" / "runs").iterdir()
    document = json.loads(kept.read_text())
    assert document["ranks"] == 2
    (region,) = document["regions"]
    assert (region["function"], len(region["graphs"]), region["breaks"]) == ("region", 1, [])
    # What both ranks did counts once.
    assert [again["times"] for again in region["again"]] == [1]
    sizes = {call["args"][2]["shape"][0] for call in records(tmp_path, "model.py")["region"]}
    assert sizes == {3, 5, 7}
