"""What is asked of the kernel, and what torch is told before it is imported."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from nonstrict.confirm import launching
from nonstrict.confirm.launching import Options, environment_for
from nonstrict_agent import processes
from tests.agent.processes.agents import job, started

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks the kernel of Linux")
AGENT = Path(processes.__file__).parent


@linux
def test_children_are_listed_either_way():
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert child.pid in processes.children()
        assert child.pid in processes._children_by_search()
    finally:
        child.kill()
        child.wait()
    assert child.pid not in processes.children()


@linux
def test_an_open_gpu_is_noticed(monkeypatch):
    assert not processes.holds_gpu()
    monkeypatch.setattr(os, "readlink", lambda _: "/dev/nvidia0")
    assert processes.holds_gpu()


@linux
def test_the_agent_begins_with_a_broker_that_knows_no_torch():
    program = (
        f"import sys; sys.path.insert(0, {str(AGENT.parent)!r});"
        "import nonstrict_agent.broker, nonstrict_agent.guardian; print('torch' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


@pytest.mark.parametrize("path", sorted(AGENT.glob("*.py")), ids=lambda path: path.name)
def test_the_agent_imports_the_standard_library_and_torch_only(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.partition(".")[0] in {
                *sys.stdlib_module_names,
                "nonstrict_agent",
                "torch",
                "functorch",
                "numpy",
            }, name


def test_secrets_stay_behind(monkeypatch, tmp_path):
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hush")
    monkeypatch.setenv("HF_TOKEN", "hush")
    monkeypatch.setenv("WANTED", "seen")
    seen = environment_for(Options(tmp_path, environment=("WANTED",)))
    assert "hush" not in seen.values()
    assert seen["WANTED"] == "seen"
    assert seen["PATH"] == os.environ["PATH"]
    assert seen[launching.MARKER] != environment_for(Options(tmp_path))[launching.MARKER]


@linux
def test_jobs_see_the_allowed_environment_and_nothing_beside_the_agent(stand_in, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hush")
    with started(stand_in) as agent:
        result = agent.submit(job("secrets"), 20).result(30)
    assert result.value is not None, result
    assert "hush" not in result.value["environment"].values()
    assert result.value["environment"]["OMP_NUM_THREADS"] == "1"
    # The directory of the agent holds other packages where it is installed: programs must not find those.
    plain = subprocess.run([sys.executable, "-c", "import sys; print(sys.path[1:])"], capture_output=True, check=True)
    assert result.value["path"] == ast.literal_eval(plain.stdout.decode())


@linux
def test_jobs_for_a_gpu_have_a_process_of_their_own(stand_in):
    with started(stand_in) as agent:
        cpu = agent.submit(job("secrets"), 20).result(30)
        gpu = agent.submit({**job("secrets"), "device": "cuda"}, 20).result(30)
    assert cpu.value is not None
    assert gpu.value is not None
    assert cpu.value["environment"]["CUDA_VISIBLE_DEVICES"] == ""
    assert "CUDA_VISIBLE_DEVICES" not in gpu.value["environment"]
    assert gpu.value["environment"]["PYTORCH_NVML_BASED_CUDA_CHECK"] == "1"
