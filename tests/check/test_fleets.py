"""The same verdicts whoever runs the experiments: one worker, two, or a cluster of which one worker is killed."""

from __future__ import annotations

import functools
import logging
import os
import queue
import signal
import socket
import subprocess
import sys
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.confirmation import Confirmed, ConfirmOptions, confirm
from nonstrict.check.run import RunOptions, check
from nonstrict.confirm.fleet.dask import Connection, Unreachable
from nonstrict.confirm.fleet.workers import WorkerLost
from nonstrict.confirm.session import Session
from nonstrict.settings.model import default_settings
from tests.agent.processes import agents

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from nonstrict.confirm.client import State

pytestmark = pytest.mark.torch

PROGRAM = """
import torch

scale = 1.0


@torch._dynamo.nonstrict_trace
def scaled(x):
    return {body} * scale


@torch.compile
def step(x):
    return scaled(x) + {number}


def change():
    global scale
    scale = 2.0


if __name__ == "__main__":
    for _ in range(3):
        step(torch.ones(3))
        change()
"""
#: What the programs compute with; where that raises, there is nothing to compare.
BODIES = ("x", "x + 1", "missing(x)")


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("fleet")
    for number, body in enumerate(BODIES):
        (folder / f"program_{number}.py").write_text(PROGRAM.format(number=number, body=body))
    return folder


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes behind a scheduler, on the loopback alone."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    ) as made:
        yield made


def confirmed(root: Path, **options: Any) -> Confirmed:
    settings = default_settings(str(root))
    result = check([str(root)], settings, RunOptions(jobs=1, cache=False))
    assert len(result.diagnostics) == len(BODIES)
    return confirm(result.diagnostics, result.read, settings, ConfirmOptions(cache=False, device="cpu", **options))


def verdicts(answer: Confirmed) -> list[tuple[object, ...]]:
    assert not answer.failures
    assert all(one.verdict is not None for one in answer.diagnostics)
    return [
        (one.location, one.verdict.status, one.verdict.reason, one.verdict.evidence, one.verdict.outcomes)
        for one in answer.diagnostics
        if one.verdict is not None
    ]


def workers_of(cluster: Any) -> dict[str, int]:
    return {one.worker_address: one.pid for one in cluster.workers.values() if one.worker_address}


def agents_below(pid: int) -> list[int]:
    """The processes of agents that a worker has started."""
    psutil = pytest.importorskip("psutil")
    try:
        below = psutil.Process(pid).children(recursive=True)
        return [one.pid for one in below if any("nonstrict_agent" in word for word in one.cmdline())]
    except psutil.Error:
        return []


def test_one_worker_two_and_a_cluster_that_loses_one(root: Path, cluster: Any):
    alone = verdicts(confirmed(root, workers=1, jobs=2))
    assert {status for _, status, *_ in alone} == {"confirmed", "inconclusive"}
    assert verdicts(confirmed(root, workers=2, jobs=2)) == alone

    told: list[str] = []
    killed: list[str] = []

    def kill_one(done: int, total: int) -> None:
        """Kill a worker once a program is done: two are being run by then, one by each."""
        del total
        if done and not killed:
            name, pid = next(iter(workers_of(cluster).items()))
            killed.append(name)
            os.kill(pid, signal.SIGKILL)

    def note(state: State) -> None:
        told.append(state.text)

    answer = confirmed(root, cluster=cluster.scheduler_address, on_count=kill_one, on_state=note)
    assert f"the worker {killed[0]} was lost" in told
    assert verdicts(answer) == alone


def test_an_interrupt_ends_what_workers_do(root: Path, cluster: Any):
    arguments = ["--confirm", "--no-cache", "--isolated", "--cluster", cluster.scheduler_address, str(root)]
    run = subprocess.Popen(
        [sys.executable, "-m", "nonstrict", "check", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=root,
    )
    assert run.stderr is not None
    assert any("ready" in line for line in run.stderr)
    time.sleep(0.5)
    assert any(map(agents_below, workers_of(cluster).values()))
    run.send_signal(signal.SIGINT)
    started = time.monotonic()
    out, err = run.communicate(timeout=10)
    assert time.monotonic() - started < 3
    assert run.returncode == 130, err
    assert "interrupted: experiments had settled" in err
    assert out.count("NST104") >= len(BODIES)
    while any(map(agents_below, workers_of(cluster).values())):
        assert time.monotonic() - started < 20
        time.sleep(0.1)


def test_what_would_have_to_be_unpickled_does_not_come_back(cluster: Any):
    connection = Connection(cluster.scheduler_address)
    name = next(iter(connection.workers()))
    heard: queue.Queue[tuple[bytes | None, str]] = queue.Queue()

    def hear(answer: bytes | None, why: str) -> None:
        heard.put((answer, why))

    connection.send(name, functools.partial(bytes, b"data")).when_over(hear)
    assert heard.get(timeout=20) == (b"data", "")
    made: Any = functools.partial(Fraction, 1, 3)
    connection.send(name, made).when_over(hear)
    answer, why = heard.get(timeout=20)
    assert answer is None
    assert "only able to deserialize" in why, "else it was made here, and refused too late"
    connection.leave(str.encode, "")


def test_an_address_where_nobody_listens(root: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("nonstrict.confirm.fleet.dask._PATIENCE", 1.0)
    answer = confirmed(root, cluster="tcp://127.0.0.1:9")
    assert answer.failures[0].startswith("nothing was confirmed: the Dask scheduler at tcp://127.0.0.1:9 cannot be")
    assert len(answer.diagnostics) == len(BODIES)


def test_an_address_where_something_else_listens(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("nonstrict.confirm.fleet.dask._PATIENCE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        host, port = silent.getsockname()
        with pytest.raises(Unreachable):
            Connection(f"tcp://{host}:{port}")


def test_without_what_connects_to_a_cluster(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nonstrict.check.fleets._PACKAGE", "distributed_that_is_not_there")
    answer = confirmed(root, cluster="tcp://127.0.0.1:9")
    assert 'pip install "nonstrict[cluster]"' in answer.failures[0]


def test_a_program_that_no_worker_survives_is_a_verdict(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path))

    def lost(*_: object) -> None:
        raise WorkerLost("ended by SIGKILL")

    monkeypatch.setattr(Session, "confirm", lost)
    answer = confirmed(root, workers=1)
    reasons = [one.verdict and (one.verdict.reason, one.verdict.evidence) for one in answer.diagnostics]
    assert reasons == [("lost", "ended by SIGKILL")] * len(BODIES)
