"""One agent with the real torch for the whole folder: starting it takes seconds."""

from __future__ import annotations

import pytest

from tests.agent.processes import agents


@pytest.fixture(scope="package")
def agent(tmp_path_factory):
    pytest.importorskip("torch")
    with agents.started(tmp_path_factory.mktemp("agent")) as agent:
        agent.wait_ready(240)
        yield agent


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    """Agents started in this test get a stand-in for torch, and are ready in a moment."""
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path))
    return tmp_path
