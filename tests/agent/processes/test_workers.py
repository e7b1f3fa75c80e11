"""The same interface where processes cannot be forked: one-shot workers, forced."""

from __future__ import annotations

import sys

import pytest

from nonstrict.confirm.client import as_completed
from tests.agent.processes.agents import STAND_IN, job, marker_of, processes, role_of, started, torch_of, wait_until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")


@pytest.fixture
def agent(stand_in):
    with started(stand_in, mode="workers") as agent:
        agent.wait_ready(60)
        yield agent


def test_jobs_in_workers(agent):
    assert agent.wait_ready().mode == "workers"
    tickets = [agent.submit(job("echo", number=number), 30) for number in range(6)]
    values = [ticket.result().value for ticket in as_completed(tickets, 60)]
    assert sorted(value["number"] for value in values if value) == list(range(6))


@pytest.mark.parametrize("function", ["crash", "leave", "fail"])
def test_a_worker_that_fails_is_replaced(agent, function):
    assert agent.submit(job(function), 30).result(30).failure == "crash"
    assert agent.submit(job("echo"), 30).result(30).failure == ""


def test_cancelled_and_overdue_workers_leave_nothing(agent, tmp_path):
    mark = tmp_path / "mark"
    ticket = agent.submit({**job("hold_orphans", mark=str(mark)), "writable": [str(tmp_path)]}, 60)
    assert wait_until(mark.exists)
    ticket.cancel()
    assert ticket.result(10).failure == "cancelled"
    assert agent.submit(job("sleep", seconds=60), 0.3).result(30).failure == "timeout"
    assert wait_until(lambda: not any(b"300" in command for command in processes(marker_of(agent)).values()))


def test_workers_are_kept_ready(agent):
    agent.submit(job("echo"), 30).result(30)

    def workers():
        return [pid for pid, command in processes(marker_of(agent)).items() if role_of(command) == "worker"]

    assert wait_until(lambda: len(workers()) == 2)


def test_a_torch_that_starts_threads_is_not_forked(tmp_path, monkeypatch):
    thread = "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    monkeypatch.setenv("PYTHONPATH", torch_of(tmp_path, STAND_IN + thread))
    with started(tmp_path) as agent:
        assert agent.wait_ready(60).mode == "workers"
        assert agent.submit(job("echo"), 30).result(30).failure == ""


PRETENDED = """
import threading, time
pretends = started = False

def backward(self):
    global started
    if pretends and not started:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    started = True

def compile(function, **options):
    global pretends
    pretends = True
    return function

Number.backward = backward
"""


def test_autograd_starts_before_a_compiler_pretends_that_there_are_gpus(tmp_path, monkeypatch):
    # As torch built with CUDA behaves on a machine without a GPU.
    monkeypatch.setenv("PYTHONPATH", torch_of(tmp_path, STAND_IN + PRETENDED))
    with started(tmp_path) as agent:
        assert agent.wait_ready(60).mode == "fork"
        assert agent.submit(job("echo"), 30).result(30).failure == ""


def test_a_device_that_does_not_work_leaves_the_other(tmp_path, monkeypatch):
    fails = "import os\nif 'CUDA_VISIBLE_DEVICES' not in os.environ: raise OSError('libcudart.so is missing')"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.setenv("PYTHONPATH", torch_of(tmp_path, STAND_IN + fails))
    with started(tmp_path) as agent:
        agent.wait_ready(60)
        for _ in range(2):
            result = agent.submit({**job("echo"), "device": "cuda"}, 30).result(30)
            assert result.failure == "dead"
            assert "libcudart.so" in result.detail
        assert agent.submit(job("echo"), 30).result(30).failure == ""
