"""Code that needs a process group has one whose other ranks are not there, and only then."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

HEAD = """\
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as fc
from torch._dynamo import nonstrict_trace
from torch.distributed.device_mesh import DeviceMesh
"""
ASKING = f"""{HEAD}
@nonstrict_trace
def scaled(x):
    return x * dist.get_world_size()

@torch.compile(fullgraph=True)
def step(x):
    return scaled(x)

def main():
    step(torch.ones(3))
"""
TAKING = f"""{HEAD}
@nonstrict_trace
def scaled(x: torch.Tensor, group: dist.ProcessGroup, mesh: DeviceMesh):
    return fc.all_gather_tensor(x, 0, group) * mesh["rows"].size() * mesh.get_local_rank("columns")

@nonstrict_trace
def plain(x: torch.Tensor, group=None):
    return x + 1
"""


def taken(*names: str) -> dict[str, Any]:
    """A driver that calls `scaled` with a group and a mesh."""
    tensor = {"kind": "tensor", "shape": [2], "dtype": "float32", "device": "cpu", "requires_grad": False}
    mesh = {"kind": "device-mesh", "names": list(names)}
    calls = [{"args": [tensor, {"kind": "process-group"}, mesh], "kwargs": {}}]
    return {"kind": "calls", "name": "scaled", "given": json.dumps(calls)}


def test_that_code_asks_for_a_group_is_told(project: Project) -> None:
    trace = project.arm(ASKING)
    assert trace["stop"]["error"]["asks_for_group"]
    assert trace["calls"][0]["error"]["asks_for_group"]
    assert trace["group"] == {"ranks": 0, "own": False}


def test_other_errors_do_not_ask_for_a_group(project: Project) -> None:
    other = ASKING.replace("dist.get_world_size()", "dist.no_such_function()")
    assert "asks_for_group" not in project.arm(other)["stop"]["error"]
    message = ASKING.replace("dist.get_world_size()", "fail()") + (
        "\ndef fail():\n    raise ValueError('Default process group has not been initialized')\n"
    )
    assert "asks_for_group" not in project.arm(message, path="message.py")["stop"]["error"]


@pytest.mark.parametrize("backend", ["eager", "fake", "aot_eager", "inductor"])
def test_every_arm_has_the_same_group(project: Project, backend: str) -> None:
    trace = project.arm(ASKING, backend, group=True)
    assert trace["stop"] == {"kind": "end"}
    assert trace["group"] == {"ranks": 2, "own": False}
    if backend != "fake":
        assert result(trace["calls"][0]) == [2.0, 2.0, 2.0]


def test_a_program_with_a_group_of_its_own_keeps_it(project: Project) -> None:
    own = """
from torch.testing._internal.distributed.fake_pg import FakeStore
dist.init_process_group("fake", rank=3, world_size=4, store=FakeStore())
"""
    trace = project.arm(ASKING + own)
    assert result(trace["calls"][0]) == [4.0, 4.0, 4.0]
    assert trace["group"] == {"ranks": 0, "own": True}
    trace = project.arm(TAKING + own, driver={**taken("rows"), "name": "plain"}, path="taking.py")
    assert trace["group"] == {"ranks": 0, "own": True}


def test_that_a_program_tries_to_make_a_group_is_told(project: Project) -> None:
    late = ASKING + "    dist.init_process_group('gloo')\n"
    assert project.arm(late, group=True)["group"] == {"ranks": 2, "own": True}


def test_groups_and_meshes_are_arguments(project: Project) -> None:
    trace = project.arm(TAKING, driver=taken("rows", "columns"))
    assert trace["stop"] == {"kind": "end"}
    assert result(trace["calls"][0]) == [0.0, 0.0, 0.0, 0.0]
    assert trace["calls"][0]["inputs"]["argument 2"] == "ProcessGroup"
    assert trace["group"] == {"ranks": 2, "own": False}


def test_a_search_finds_groups_and_makes_one_where_it_is_asked_for(project: Project) -> None:
    def found(text: str, name: str) -> dict[str, Any]:
        job = {**project.job(text), "kind": "inputs", "name": name, "search_seconds": 5.0}
        return project.perform(job)["calls"][0]

    args = found(TAKING.replace('mesh.get_local_rank("columns")', 'mesh["columns"].size()'), "scaled")["args"]
    assert args[1:] == [{"kind": "process-group"}, {"kind": "device-mesh", "names": ["rows", "columns"]}]
    assert [one["kind"] for one in found(TAKING, "plain")["args"]] == ["tensor"]
    assert [one["kind"] for one in found(ASKING, "scaled")["args"]] == ["tensor"]
