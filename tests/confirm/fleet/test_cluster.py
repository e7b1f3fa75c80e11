"""What a run makes of a cluster: which workers it uses, and what it does where one is lost. Dask has a stand-in."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.answers import JobResult, Ready, message_of
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.fleet import cluster, on_worker
from nonstrict.confirm.fleet.cluster import Cluster
from nonstrict.confirm.fleet.dask import Unreachable
from nonstrict.confirm.fleet.messages import version
from nonstrict.confirm.fleet.workers import WorkerLost
from tests.agent.processes.agents import wait_until
from tests.confirm.fleet.making import setup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

READY = Ready("2.13.0", "3.11.7", "deny", "fork", 0.0, cuda=False)
DONE = {**message_of(JobResult({"files": []}, "", "", (), 0.1)), "hashes": {}}


class Sent:
    def __init__(self) -> None:
        self.hear: Callable[[bytes | None, str], None] | None = None
        self.answer: tuple[bytes | None, str] | None = None

    def when_over(self, hear: Callable[[bytes | None, str], None]) -> None:
        self.hear = hear
        if self.answer is not None:
            threading.Thread(target=hear, args=self.answer).start()


class Dask:
    """A scheduler; its workers say of themselves what is in `descriptions` and `ready`."""

    def __init__(self, *names: str) -> None:
        self.threads = dict.fromkeys(names, 1)
        self.version = version()
        self.descriptions: dict[str, dict[str, Any] | str] = {}
        self.ready: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, list[Sent]] = {}
        self.answer: dict[str, Any] | None = DONE
        self.left = False
        self.is_gone = False

    def __call__(self, address: str) -> Dask:
        assert address == "tcp://scheduler:8786"
        return self

    def workers(self) -> dict[str, int]:
        if self.is_gone:
            raise Unreachable("connection closed")
        return dict(self.threads)

    def asked_of_scheduler(self, function: Callable[[], str]) -> str:
        if not self.version:
            raise Unreachable("ModuleNotFoundError")
        return self.version

    def asked(self, names: Sequence[str], function: Callable[..., bytes], *given: bytes) -> dict[str, bytes | str]:
        found = {name: self.descriptions.get(name, {"refusal": "", "torch": "2.13.0"}) for name in names}
        return {name: one if isinstance(one, str) else json.dumps(one).encode() for name, one in found.items()}

    def send(self, name: str, function: Callable[..., bytes], *given: bytes, priority: int = 0) -> Sent:
        sent = Sent()
        if function is on_worker.prepare:
            told = self.ready.get(name, {"refusal": "", "ready": READY._asdict()})
            sent.answer = json.dumps(told).encode(), ""
        else:
            self.jobs.setdefault(name, []).append(sent)
            if self.answer is not None:
                sent.answer = json.dumps(self.answer).encode(), ""
        return sent

    def leave(self, function: Callable[[str], bytes], given: str) -> None:
        self.left = True


@pytest.fixture
def dask(monkeypatch: pytest.MonkeyPatch) -> Dask:
    made = Dask("a", "b")
    monkeypatch.setattr(cluster, "Connection", made)
    monkeypatch.setattr(cluster, "_PULSE", 0.02)
    monkeypatch.setattr(cluster, "_WAITING", 5.0)
    return made


def of(root: Path, **changed: Any) -> Cluster:
    return Cluster("tcp://scheduler:8786", setup(root, **changed))


@pytest.fixture
def started(dask: Dask, tmp_path: Path) -> Iterator[Cluster]:
    with closing(of(tmp_path)) as made:
        start(made)
        yield made


def refusal(made: Cluster) -> str:
    with closing(made), pytest.raises(AgentUnavailable) as caught:
        start(made)
    return str(caught.value)


def start(made: Cluster) -> None:
    made.circumstances()
    made.start()


def names_of(made: Cluster) -> list[str]:
    return sorted(worker.name for worker in made._lending.workers)


def test_nothing_of_dask_is_loaded_unless_a_cluster_is_asked_for():
    script = "import nonstrict.check.confirmation, sys; print({'distributed', 'dask'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"


def test_results_come_from_the_worker_that_was_lent(dask: Dask, started: Cluster):
    assert started.slots == 2
    with started.lend() as first, started.lend() as second:
        for worker in (first, second):
            assert worker.submit({"kind": "arm"}, 5).result(5).value == {"files": []}
    assert {name: len(jobs) for name, jobs in dask.jobs.items()} == {"a": 1, "b": 1}


def test_verdicts_hold_for_the_torch_of_the_workers(dask: Dask, tmp_path: Path):
    assert of(tmp_path, python="").circumstances() == ("cluster", "", "2.13.0")
    dask.descriptions["b"] = {"refusal": "", "torch": "2.12.1"}
    assert "2.12.1 on b; 2.13.0 on a" in refusal(of(tmp_path))


def test_workers_that_are_not_fit_are_left_out_and_named_where_none_is(dask: Dask, tmp_path: Path):
    dask.descriptions["a"] = {"refusal": "it has nonstrict 0.0.1, and this run is of 9"}
    with closing(of(tmp_path)) as made:
        start(made)
        assert names_of(made) == ["b"]
    dask.descriptions["b"] = "ModuleNotFoundError: nonstrict.confirm.fleet"
    told = refusal(of(tmp_path))
    assert "a: it has nonstrict 0.0.1" in told
    assert "b: it cannot be asked: ModuleNotFoundError" in told
    assert f"nonstrict[cluster]=={version()}" in told


@pytest.mark.parametrize("found", ["0.0.1", ""])
def test_the_scheduler_must_have_the_same_version(dask: Dask, tmp_path: Path, found: str):
    dask.version = found
    assert "the process of the Dask scheduler" in refusal(of(tmp_path))


def test_a_cluster_without_workers(dask: Dask, tmp_path: Path):
    dask.threads.clear()
    assert "has no workers" in refusal(of(tmp_path))


def test_workers_that_cannot_be_prepared_say_why(dask: Dask, tmp_path: Path):
    dask.ready = {name: {"refusal": "programs cannot be isolated here"} for name in "ab"}
    assert "a, b: programs cannot be isolated here" in refusal(of(tmp_path))


@pytest.mark.parametrize(
    ("device", "kept"), [("auto", ["b"]), ("cuda", ["b"]), ("cpu", ["a", "b"])], ids=["auto", "cuda", "cpu"]
)
def test_where_some_have_a_gpu_they_alone_judge(dask: Dask, tmp_path: Path, device: str, kept: list[str]):
    dask.ready["b"] = {"refusal": "", "ready": READY._replace(cuda=True)._asdict()}
    with closing(of(tmp_path, device=device)) as made:
        start(made)
        assert names_of(made) == kept


def test_a_gpu_that_no_worker_has(dask: Dask, tmp_path: Path):
    assert "finds no CUDA GPU" in refusal(of(tmp_path, device="cuda"))


def test_a_lost_worker_is_told_to_those_who_wait_and_another_is_taken_in(dask: Dask, started: Cluster):
    dask.answer = None
    with started.lend() as worker:
        waiting = worker.submit({"kind": "arm"}, 5)
        del dask.threads[worker.name]
        dask.threads["c"] = 1
        with pytest.raises(WorkerLost, match=f"the worker {worker.name} was lost"):
            waiting.result(5)
        with pytest.raises(WorkerLost):
            worker.submit({"kind": "arm"}, 5)
    assert wait_until(lambda: "c" in names_of(started))
    assert worker.name not in names_of(started)


def test_where_all_are_lost_another_is_waited_for(dask: Dask, started: Cluster):
    dask.threads.clear()
    assert wait_until(lambda: not names_of(started))
    threading.Timer(0.2, dask.threads.update, [{"c": 1}]).start()
    with started.lend() as worker:
        assert worker.name == "c"


def test_one_that_joins_must_be_like_the_others(dask: Dask, started: Cluster):
    dask.ready["c"] = {"refusal": "", "ready": READY._replace(torch="2.12.1")._asdict()}
    dask.threads["c"] = 1
    assert wait_until(lambda: "c" in started._refused)
    assert names_of(started) == ["a", "b"]


def test_a_lost_scheduler_ends_the_run(dask: Dask, started: Cluster):
    dask.answer = None
    with started.lend() as worker:
        waiting = worker.submit({"kind": "arm"}, 5)
        dask.is_gone = True
        with pytest.raises(WorkerLost, match="connection closed"):
            waiting.result(5)
    with pytest.raises(AgentUnavailable, match="was lost: connection closed"), started.lend():
        pass


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({**DONE, "hashes": {__file__: "0"}}, "is another file on"),
        ({**DONE, "failure": "dead", "detail": "ended by SIGKILL"}, "ended by SIGKILL"),
        ({}, "cannot be read"),
    ],
    ids=["another file", "dead", "nothing"],
)
def test_an_answer_that_is_none_costs_the_worker(dask: Dask, started: Cluster, answer: dict[str, Any], told: str):
    dask.answer = answer
    with started.lend() as worker:
        waiting = worker.submit({"kind": "arm"}, 5)
        with pytest.raises(WorkerLost, match=told):
            waiting.result(5)


def test_a_worker_that_is_lost_each_time_is_prepared_three_times(dask: Dask, started: Cluster):
    del dask.threads["b"]
    assert wait_until(lambda: names_of(started) == ["a"])
    dask.answer = {**DONE, "failure": "dead", "detail": "ended"}
    for _ in range(3):
        with started.lend() as worker:
            waiting = worker.submit({"kind": "arm"}, 5)
            with pytest.raises(WorkerLost):
                waiting.result(5)
    assert wait_until(lambda: not names_of(started))
    assert started._tries["a"] == 3


def test_leaving_is_told_to_all_at_once(dask: Dask, started: Cluster):
    dask.answer = None
    with started.lend() as worker:
        waiting = worker.submit({"kind": "arm"}, 5)
        started.close()
        with pytest.raises(WorkerLost, match="the run is over"):
            waiting.result(5)
    assert dask.left
