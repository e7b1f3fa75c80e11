"""What is asked of the kernel, and what torch is told before it is imported."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import threading
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
def test_other_threads_are_named():
    before = processes.other_threads()
    over = threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    try:
        assert len(processes.other_threads()) == len(before) + 1 == processes.tasks() - 1
    finally:
        over.set()
        thread.join()


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
    # The fixtures of a test are there only where the test could import pytest.
    own = {"pytest"} if path.name in {"fixtures.py", "testing.py"} else set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        for name in names:
            assert name.partition(".")[0] in {
                *sys.stdlib_module_names,
                *own,
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
def test_what_only_variables_name_as_secret_is_hidden(stand_in, monkeypatch, tmp_path):
    ticket, open_file = tmp_path / "ticket", tmp_path / "open"
    ticket.write_text("hush")
    open_file.write_text("told")
    monkeypatch.setenv("KRB5CCNAME", f"FILE:{ticket}")
    with started(stand_in) as agent:
        hidden = agent.submit(job("read", path=str(ticket)), 20).result(30)
        told = agent.submit(job("read", path=str(open_file)), 20).result(30)
    assert hidden.value is not None, hidden
    assert told.value is not None, told
    assert (hidden.value["text"], told.value["text"]) == ("", "told")


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
