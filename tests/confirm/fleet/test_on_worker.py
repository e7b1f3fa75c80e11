"""The end of a run that is in a worker of a cluster, called here as Dask calls it there."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.answers import Change, JobResult, message_of, result_of
from nonstrict.confirm.fleet import on_worker
from nonstrict.confirm.fleet.messages import Order, Setup, hash_of
from nonstrict.confirm.launching import Options
from tests.agent.processes import agents
from tests.confirm.fleet.making import setup

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project; agents get a stand-in for torch, and run any function."""
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path))
    options = Options(tmp_path / "cache", isolation="none", testing=True)
    monkeypatch.setattr(on_worker, "agent_options", lambda *_: options)
    monkeypatch.setattr(on_worker, "_OVER", set())
    yield tmp_path
    on_worker._end("token")


def described(given: Setup) -> str:
    return json.loads(on_worker.describe(given.as_bytes()))["refusal"]


def performed(given: Setup, job: dict[str, Any]) -> dict[str, Any]:
    return json.loads(on_worker.perform(given.as_bytes(), Order(job, 30).as_bytes()))


def test_a_worker_like_this_one_is_fit(tmp_path: Path):
    pytest.importorskip("torch")
    (tmp_path / "main.py").write_text("a = 1")
    path = str(tmp_path / "main.py")
    assert described(setup(tmp_path, files={path: hash_of(path)})) == ""
    assert described(setup(tmp_path, python="")) == ""
    assert json.loads(on_worker.describe(setup(tmp_path).as_bytes()))["torch"].startswith("2.")


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"version": "0.0.1"}, "and this run is of 0.0.1"),
        ({"code": "0"}, "has other code than that of this run"),
        ({"root": "/nowhere/project"}, "it has no folder /nowhere/project"),
        ({"files": {"/nowhere/main.py": "0"}}, "it cannot read /nowhere/main.py"),
        ({"files": {__file__: "0"}}, "is another one than here"),
        ({"python": "/nowhere/python"}, "it has no /nowhere/python"),
    ],
)
def test_a_worker_that_is_not_fit_says_why(tmp_path: Path, changed: dict[str, Any], told: str):
    assert told in described(setup(tmp_path)._replace(**changed))


def test_jobs_run_in_an_agent_that_is_kept(root: Path):
    ready = json.loads(on_worker.prepare(setup(root).as_bytes()))
    assert (ready["refusal"], ready["ready"]["torch"], ready["ready"]["tier"]) == ("", "9.9.0", "none")
    first = on_worker._HOSTS["token"]
    main = root / "main.py"
    main.write_text("a = 1")
    message = performed(setup(root), agents.job("echo", files=[str(main)]))
    assert message["value"]["files"] == [str(main)]
    assert message["hashes"] == {str(main): hash_of(str(main))}
    assert on_worker._HOSTS["token"] is first


def test_a_worker_without_torch_says_so(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(root / "other", "__version__ = '2.0.1'"))
    assert "torch 2.0.1" in json.loads(on_worker.prepare(setup(root).as_bytes()))["refusal"]
    assert not on_worker._HOSTS


def test_an_interpreter_that_is_none_is_no_exception(root: Path):
    nowhere = setup(root, python="/nowhere/python")
    assert "cannot run the interpreter" in json.loads(on_worker.prepare(nowhere.as_bytes()))["refusal"]
    assert performed(nowhere, agents.job("echo"))["failure"] == "dead"


def test_the_end_of_a_run_ends_its_jobs_and_late_ones(root: Path):
    mark = root / "mark"
    answers: list[dict[str, Any]] = []
    sleeping = agents.job("sleep", seconds=60, mark=str(mark))
    thread = threading.Thread(target=lambda: answers.append(performed(setup(root), sleeping)))
    thread.start()
    assert agents.wait_until(mark.exists)
    marker = agents.marker_of(on_worker._HOSTS["token"].agent)
    on_worker.stop("token")
    thread.join(20)
    assert [answer["failure"] for answer in answers] == ["dead"]
    assert agents.gone(marker)
    late = performed(setup(root), agents.job("echo"))
    assert (late["failure"], late["detail"]) == ("dead", "the run is over")
    assert not on_worker._HOSTS


def test_an_agent_is_not_kept_for_a_run_that_is_silent(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(on_worker, "_SILENCE", 0.2)
    monkeypatch.setattr(on_worker, "_GLANCE", 0.05)
    assert performed(setup(root), agents.job("sleep", seconds=0.6))["failure"] == ""
    assert agents.wait_until(lambda: not on_worker._HOSTS)
    assert performed(setup(root), agents.job("echo"))["failure"] == "", "it is started again"


def test_results_are_the_same_at_both_ends():
    result = JobResult({"a": "\udc80"}, "timeout", "why", (Change("written", "a", 3),), 1.5, 2, "printed", 7.0)
    assert result_of(json.loads(json.dumps(message_of(result)))) == result
