"""What an arm hears of CUDA graphs from torch's own code, which decides for a GPU that is not there.

Nothing is run on it, so that recordings are not seen; `scripts/cuda_graphs/pretending.py` says how far torch comes.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

ROOT = Path(__file__).resolve().parents[3]
RUN = """\
import json, sys, tempfile
from pathlib import Path
import torch
import torch._inductor.compile_fx
from cuda_graphs.pretending import built_guard, pretended_gpu
from nonstrict_agent.arm import run_arm
_, given, answer = sys.argv
with open(given) as file:
    job = json.load(file)
guard = built_guard(Path(tempfile.mkdtemp(dir=job["root"])))
with pretended_gpu(guard) as told:
    trace = run_arm(job)
with open(answer, "w") as file:
    json.dump({"calls": trace["calls"], "stop": trace.get("stop"), "recorded": told.recorded}, file)
"""
PROGRAM = """\
import torch


@torch.compile(mode="reduce-overhead")
def changed(cache, x):
    cache.add_(x)
    return cache * 2


@torch.compile(mode="reduce-overhead")
def mixed(x, t):
    y = t.cos() + 1
    return x * 2, y


@torch.compile(mode="reduce-overhead")
def branching(x):
    return torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,))


@torch.compile(options={"triton.cudagraphs": True})
def plain(x):
    return x * 2


@torch.compile
def without(x):
    return x * 3


@torch.no_grad()
def main():
    x = torch.ones(8, device="cuda")
    changed(torch.zeros(8, device="cuda"), x)
    mixed(x, torch.ones(8))
    branching(x)
    plain(x)
    without(x)
"""


@pytest.fixture
def told(project: Project, tmp_path: Path) -> dict[str, Any]:
    if shutil.which("g++") is None:
        pytest.skip("needs g++, to pretend a GPU")
    project.write("model.py", PROGRAM)
    job = project.job(dedent(PROGRAM), "inductor", captured=True, gradients=False, device="cuda", cached=False)
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    paths = os.pathsep.join(str(ROOT / name) for name in ("analysis", "scripts"))
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    command = [sys.executable, "-c", RUN, str(tmp_path / "job.json"), str(tmp_path / "trace.json")]
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=240)
    return json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))


def reasons(graphed: dict[str, Any], kind: str) -> dict[str, set[int]]:
    """The reasons of a kind, with the lines that they name."""
    return {one["text"]: {line for _, line in one["lines"]} for one in graphed[kind]}


def test_what_torch_says_stands_at_its_lines(told: dict[str, Any]):
    assert told["stop"] == {"kind": "end"}
    changed, mixed, branching, plain, without = (call["graphed"] for call in told["calls"])
    assert reasons(changed, "skipped") == {"mutated inputs (1 instances)": {6}}
    assert changed["skips"] == 1
    assert (reasons(mixed, "skipped"), reasons(mixed, "apart")) == ({}, {"cpu ops": {12}})
    assert reasons(branching, "skipped") == {"control flow operator: torch.cond": {18}}
    for one in (plain, without):
        assert (one["skipped"], one["apart"], one["skips"]) == ([], [], 0)
    # For `mixed` and `plain`.
    assert told["recorded"] == 2
