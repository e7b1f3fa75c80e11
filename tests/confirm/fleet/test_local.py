"""Several agents on one machine: what each gets, and what becomes of the experiments of one that dies."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.devices import own_first, visible_gpus
from nonstrict.confirm.fleet.local import LocalFleet
from nonstrict.confirm.fleet.workers import WorkerLost
from nonstrict.confirm.launching import Options
from tests.agent.processes import agents

if TYPE_CHECKING:
    from pathlib import Path


def fleet(directory: Path, number: int, **options: Any) -> LocalFleet:
    chosen = Options(directory / "cache", isolation="none", testing=True)._replace(**options)
    return LocalFleet(sys.executable, directory, chosen, number, ("python", "torch"), None)


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("jobs", "workers", "slots"), [(2, 1, [2]), (5, 2, [3, 2]), (2, 4, [1, 1]), (1, 2, [1]), (4, 0, [4])]
)
def test_jobs_are_shared_out_and_never_more_of_them_run(tmp_path: Path, jobs: int, workers: int, slots: list[int]):
    made = fleet(tmp_path, workers, slots=jobs, device="cpu")
    assert [worker.slots for worker in made._all] == slots
    assert made.slots == jobs == sum(slots)


def test_each_gpu_has_a_worker_and_each_worker_sees_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4, 5")
    made = fleet(tmp_path, 0, slots=8)
    seen = [dict(worker.agent._options.variables) for worker in made._all]
    assert seen == [{"CUDA_VISIBLE_DEVICES": "4,5"}, {"CUDA_VISIBLE_DEVICES": "5,4"}]
    assert [dict(worker.agent._options.variables) for worker in fleet(tmp_path, 0, slots=8, device="cpu")._all] == [{}]


def test_the_gpus_that_are_visible(tmp_path: Path):
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": ""}) == []
    assert visible_gpus({"CUDA_VISIBLE_DEVICES": "MIG-a,1"}) == ["MIG-a", "1"]
    for name in ("0000:01:00.0", "0000:02:00.0"):
        (tmp_path / name).mkdir()
    assert visible_gpus({}, str(tmp_path)) == ["0", "1"]
    assert visible_gpus({}, str(tmp_path / "none")) == []
    assert own_first([], 3) == ()


def test_the_environment_of_an_agent_has_its_variables(stand_in: Path):
    with closing(fleet(stand_in, 1, variables=(("CUDA_VISIBLE_DEVICES", "7"),))) as made:
        made.start()
        with made.lend() as worker:
            process = worker.agent._process
            assert process is not None
            assert b"CUDA_VISIBLE_DEVICES=7" in agents.environment(process.pid)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="finds processes in /proc")
def test_where_an_agent_dies_its_job_is_lost_and_the_next_one_runs(stand_in: Path):
    with closing(fleet(stand_in, 2)) as made:
        made.start()
        for _ in range(2):
            with made.lend() as worker:
                mark = stand_in / "mark"
                mark.unlink(missing_ok=True)
                waiting = worker.submit(agents.job("sleep", seconds=60, mark=str(mark)), 60)
                assert agents.wait_until(mark.exists)
                process = worker.agent._process
                assert process is not None
                os.kill(process.pid, signal.SIGKILL)
                with pytest.raises(WorkerLost, match="SIGKILL"):
                    waiting.result(20)
                with pytest.raises(WorkerLost):
                    worker.submit(agents.job("echo"), 5)
            with made.lend() as worker, made.lend() as other:
                assert worker.submit(agents.job("echo", a=1), 20).result(20).value is not None
                assert other.submit(agents.job("echo", a=1), 20).result(20).value is not None


def test_a_gpu_that_is_not_there(stand_in: Path):
    with closing(fleet(stand_in, 1, device="cuda")) as made, pytest.raises(AgentUnavailable, match="no CUDA GPU here"):
        made.start()


def test_an_agent_that_dies_again_and_again_is_given_up(stand_in: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nonstrict.confirm.fleet.local._RESTARTS", 1)
    with closing(fleet(stand_in, 1)) as made:
        made.start()
        for _ in range(2):
            with made.lend() as worker:
                worker.agent.close()
                with pytest.raises(WorkerLost):
                    worker.submit(agents.job("echo"), 5)
        with pytest.raises(AgentUnavailable, match="again and again"), made.lend():
            pass


def test_closing_ends_what_runs(stand_in: Path):
    made = fleet(stand_in, 2)
    made.start()
    with made.lend() as worker:
        waiting = worker.submit(agents.job("sleep", seconds=60), 60)
        made.close()
        with pytest.raises(WorkerLost):
            waiting.result(5)
    with pytest.raises(WorkerLost):
        worker.submit(agents.job("echo"), 5)
    with pytest.raises(AgentUnavailable), made.lend():
        pass
