"""Machines on which nothing can be confirmed: the sentence says why, and what to do."""

from __future__ import annotations

import shutil
import sys

import pytest

from nonstrict.confirm.client import Agent, AgentUnavailable, Options
from nonstrict_agent.isolation import tiers
from tests.agent.processes import agents


def refusal(tmp_path, python=sys.executable, **options):
    chosen = Options(tmp_path / "cache", isolation=agents.tiers()[0])._replace(**options)
    with pytest.raises(AgentUnavailable) as caught, Agent(python, tmp_path, chosen) as agent:
        agent.wait_ready(60)
    return str(caught.value)


def test_no_interpreter(tmp_path):
    told = refusal(tmp_path, tmp_path / "bin" / "python")
    assert "cannot run the interpreter" in told
    assert "`python` in the configuration" in told


def test_no_program(tmp_path):
    file = tmp_path / "python"
    file.write_text("nothing")
    assert "cannot run the interpreter" in refusal(tmp_path, file)


@pytest.mark.parametrize("name", ["true", "false", "cat"])
def test_another_program(tmp_path, name: str):
    program = shutil.which(name)
    if program is None:
        pytest.skip(f"no `{name}` here")
    assert "no Python" in refusal(tmp_path, program)


def test_an_old_interpreter(tmp_path):
    python = tmp_path / "python"
    pretend = "import sys; sys.version_info = (3, 9, 18); exec(sys.argv[2])"
    python.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{pretend}' \"$@\"\n")
    python.chmod(0o755)
    told = refusal(tmp_path, python)
    assert "is Python 3.9" in told
    assert "needs Python 3.10" in told


@pytest.mark.parametrize(
    ("source", "parts"),
    [
        ("raise ModuleNotFoundError(\"No module named 'torch'\", name='torch')", ["has no torch", "install torch 2.7"]),
        ("__version__ = '2.0.1'", ["torch 2.0.1", "2.7 or later"]),
        ("raise OSError('libcudart.so.12: cannot open')", ["libcudart.so.12", "cannot be imported"]),
        ("__version__ = None", ["does not say its version"]),
        ("import os; os.abort()", ["SIGABRT"]),
    ],
    ids=["missing", "old", "broken", "odd", "aborts"],
)
@pytest.mark.parametrize("mode", ["fork", "workers"])
def test_torch(tmp_path, monkeypatch, source, parts, mode):
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path, source))
    told = refusal(tmp_path, mode=mode)
    assert all(part in told for part in parts), told


def test_no_isolation(tmp_path):
    assert "there is no isolation called `lead`" in refusal(tmp_path, isolation="lead")


def test_isolation_that_does_not_work(tmp_path):
    for offer in tiers.probe():
        if not offer.available:
            assert offer.reason in refusal(tmp_path, isolation=offer.tier.value)
            return
    pytest.skip("every isolation works here")


def test_a_cache_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    assert "cache directory" in refusal(tmp_path, cache=tmp_path / "file" / "cache")


def test_jobs_that_wait_are_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path, "__version__ = '2.0.1'"))
    with Agent(sys.executable, tmp_path, Options(tmp_path / "cache", isolation=agents.tiers()[0])) as agent:
        ticket = agent.submit({"kind": "arm"}, 5)
        result = ticket.result(30)
    assert result.failure == "dead"
    assert "torch 2.0.1" in result.detail
