"""Agents that editors keep warm: they die, are closed, shared, started anew. A stand-in for torch makes it quick."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import threading
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.confirming import Confirmer
from nonstrict.check.showing import ShowError
from nonstrict.confirm.launching import MARKER as MARKER_NAME
from tests.agent.processes import agents
from tests.check.live.editing import ALONE, HANGING, OPTIONS, PROGRAM, Editor, editor, linux

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nonstrict.check.experiments import ConfirmOptions
    from nonstrict.confirm.client import Agent

MARKER = f"{MARKER_NAME}=".encode()


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConfirmOptions:
    """Agents get a stand-in for torch, and are ready in a moment; they are shared with no other test."""
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path))
    return ALONE


@pytest.fixture
def hanging(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ConfirmOptions:
    """The same, and no experiment comes to an end."""
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path, HANGING))
    return ALONE


@linux
def test_work_that_two_agents_die_of_is_given_up(hanging: ConfirmOptions, tmp_path: Path) -> None:
    with editor(tmp_path / "project", hanging) as made:
        made.request()
        killed: list[Agent] = []
        for _ in range(2):
            wait_running(made, killed)
            marker = made.marker()
            killed.append(made.agent)
            made.kill()
            assert agents.gone(marker)
        (failure,) = made.heard.wait_finished(1, 20.0)
        assert "nothing was confirmed: the agent was ended by SIGKILL" in failure


@linux
def test_closing_in_the_middle_leaves_nothing(hanging: ConfirmOptions, tmp_path: Path) -> None:
    with editor(tmp_path / "project", hanging) as made:
        made.request()
        wait_running(made)
        marker, threads = made.marker(), list(made.confirmer._threads)
        assert threads
    assert not agents.processes(marker)
    assert made.heard.all("finished") == [(made.path, ())]
    assert not any(thread.is_alive() for thread in threads)
    made.confirmer.close()
    made.confirmer.request(made.path, made.diagnostics(PROGRAM), {})
    assert not agents.processes(marker)
    with pytest.raises(ShowError, match="were ended"):
        made.confirmer.show(made.path, "scaled", "graph", None)


@linux
@pytest.mark.parametrize("moment", [0.0, 0.1, 0.4])
def test_closing_while_it_starts_leaves_nothing(stand_in: ConfirmOptions, tmp_path: Path, moment: float) -> None:
    with editor(tmp_path / "project", stand_in) as made:
        made.request()
        assert agents.wait_until(lambda: made.confirmer._agent._agent is not None)
        marker = made.marker()
        time.sleep(moment)
    assert not agents.processes(marker)
    assert len(made.heard.all("finished")) == 1


@linux
@pytest.mark.parametrize("seed", range(2))
def test_whatever_is_asked_whenever(
    hanging: ConfirmOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    markers, threads = set[bytes](), set(threading.enumerate())
    options = hanging._replace(seconds=1.0)
    with editor(tmp_path / "project", options) as made, editor(tmp_path / "other", options) as other:
        found = made.diagnostics(PROGRAM), other.diagnostics(PROGRAM)
        for _ in range(40):
            action, (user, diagnostics) = chance.random(), chance.choice([(made, found[0]), (other, found[1])])
            if action < 0.6:
                user.confirmer.request(user.path, diagnostics, user.folder.opened(), chance.choice(["", "scaled"]))
                user.asked += 1
            elif action < 0.85:
                user.confirmer.cancel(chance.choice([None, user.path]))
            elif action < 0.9:
                user.confirmer.restart()
            elif (agent := user.confirmer._agent._agent) is not None and (process := agent._process) is not None:
                markers |= {one for one in agents.environment(process.pid) if one.startswith(MARKER)}
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGKILL)
            time.sleep(chance.choice([0, 0, 0.01, 0.2]))
        monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path / "plain"))
        made.confirmer.restart()
        assert made.confirm() == ()
        markers.add(made.marker())
        other.request()
    assert [len(user.heard.all("finished")) for user in (made, other)] == [made.asked, other.asked]
    assert all(agents.gone(marker) for marker in markers)
    assert agents.wait_until(lambda: set(threading.enumerate()) <= threads), threading.enumerate()


@linux
def test_the_last_user_of_an_agent_ends_it(stand_in: ConfirmOptions, tmp_path: Path) -> None:
    with editor(tmp_path / "first", stand_in) as first:
        with editor(tmp_path / "second", stand_in) as second:
            second.confirm()
            marker = second.marker()
        assert agents.processes(marker)
        first.confirm()
        assert first.marker() == marker
    assert not agents.processes(marker)


@linux
def test_restarting(hanging: ConfirmOptions, tmp_path: Path) -> None:
    with editor(tmp_path / "project", hanging) as made, editor(tmp_path / "other", hanging) as other:
        made.request()
        other.request()
        wait_running(made)
        agent, before = made.agent, made.marker()
        (tmp_path / "stand-in" / "torch" / "__init__.py").write_text(agents.STAND_IN)
        made.confirmer.restart()
        assert made.heard.wait_finished(1, 5.0) == ()
        # Who shares the agent goes on with the new one.
        assert other.heard.wait_finished(1, 20.0) == ()
        assert made.agent is other.agent is not agent
        assert not agents.processes(before)
        assert made.confirm() == ()


def test_without_torch_the_reason_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", agents.torch_of(tmp_path, "raise ModuleNotFoundError('no torch', name='torch')"))
    with editor(tmp_path / "project", ALONE) as made:
        (failure,) = made.confirm()
        assert failure.startswith("nothing was confirmed: ")
        assert "has no torch" in failure
        assert "install torch 2.7" in failure
        with pytest.raises(ShowError, match=r"nothing can be compiled: .* has no torch"):
            made.confirmer.show(made.path, "scaled", "graph", None)
        # It was installed meanwhile.
        (tmp_path / "stand-in" / "torch" / "__init__.py").write_text(agents.STAND_IN)
        assert made.confirm() == ()


def test_without_an_interpreter_the_reason_is_told(tmp_path: Path) -> None:
    with editor(tmp_path / "project") as made:
        settings = made.folder.settings._replace(python=str(tmp_path / "bin" / "python"))
        confirmer = Confirmer(settings, OPTIONS, made.heard)
        for count in (1, 2):
            confirmer.request(made.path, made.diagnostics(PROGRAM), made.folder.opened())
            (failure,) = made.heard.wait_finished(count, 20.0)
            assert "cannot run the interpreter" in failure
        confirmer.close()


def test_nothing_to_ask_is_done_at_once(tmp_path: Path) -> None:
    with editor(tmp_path / "project", ALONE, "x = 1\n") as made:
        assert made.confirm("x = 1\n") == ()
        made.request(PROGRAM, function="missing")
        assert made.heard.wait_finished(2, 5.0) == ()
        assert made.confirmer._agent._agent is None


def wait_running(made: Editor, without: Sequence[Agent] = ()) -> None:
    """Until a job of the agent, none of some others, has a process of its own."""

    def is_running() -> bool:
        agent = made.confirmer._agent._agent
        if agent is None or agent in without or agent._ready is None or agent.state.name == "closed":
            return False
        with agent.changed:
            return bool(agent._tickets)

    assert agents.wait_until(is_running), made.heard.told
    time.sleep(0.3)
    assert is_running(), made.heard.told
