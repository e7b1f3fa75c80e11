"""Whichever process dies, and whenever: none is left, and the next run works. A stand-in for torch makes it quick."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nonstrict.confirm.client import AgentUnavailable
from tests.agent.processes import agents
from tests.agent.processes.agents import gone, job, marker_of, processes, role_of, started, wait_until

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks at processes through /proc")
TIERS = agents.tiers() if sys.platform.startswith("linux") else ["none"]
ROOT = Path(__file__).parents[3]


def kill(process):
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def with_role(agent, role):
    """The processes of a role: of the brokers the guardian first; the role "job" is what the zygote forked."""
    found = {pid: command for pid, command in processes(marker_of(agent)).items() if role_of(command)}
    if role in {"guardian", "broker"}:
        brokers = sorted(pid for pid, command in found.items() if role_of(command) == "broker")
        return [pid for pid in brokers if (pid == agent._process.pid) == (role == "guardian")]
    zygotes = [pid for pid, command in found.items() if role_of(command) == "zygote"]
    forked = [pid for pid in zygotes if parent(pid) in zygotes]
    return forked if role == "job" else [pid for pid in zygotes if pid not in forked]


def parent(process):
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def busy(agent):
    """Two jobs that hold processes of their own, with sessions of their own."""
    marks = [agent._root.parent / f"mark-{number}" for number in range(2)]
    for mark in marks:
        mark.unlink(missing_ok=True)
    writable = [str(agent._root.parent)]
    tickets = [agent.submit({**job("hold_orphans", mark=str(mark)), "writable": writable}, 60) for mark in marks]
    assert wait_until(lambda: all(mark.exists() for mark in marks)), [ticket.done() for ticket in tickets]
    return tickets


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("role", ["guardian", "broker"])
def test_the_death_of_the_agent_takes_all_with_it(stand_in, tier, role):
    with started(stand_in, isolation=tier) as agent:
        marker = marker_of(agent)
        tickets = busy(agent)
        kill(with_role(agent, role)[0])
        assert [ticket.result(20).failure for ticket in tickets] == ["dead", "dead"]
        assert gone(marker), processes(marker)
        with pytest.raises(AgentUnavailable, match="start it again"):
            agent.submit(job("echo"), 5)
        agent.start()
        assert agent.submit(job("echo"), 20).result(20).failure == ""
        marker = marker_of(agent)
    assert gone(marker), processes(marker)


@pytest.mark.parametrize("tier", TIERS)
def test_the_zygote_is_replaced(stand_in, tier):
    with started(stand_in, isolation=tier) as agent:
        tickets = busy(agent)
        marks = list(stand_in.glob("mark-*"))
        for mark in marks:
            mark.unlink()
        before = processes(marker_of(agent))
        kill(with_role(agent, "zygote")[0])
        # The jobs start once more, in the new one; nothing of the old ones is left.
        assert wait_until(lambda: all(mark.exists() for mark in marks))
        stayed = {pid for pid, command in before.items() if role_of(command) == "broker"}
        assert {pid for pid in processes(marker_of(agent)) if pid in before} == stayed
        kill(with_role(agent, "zygote")[0])
        results = [ticket.result(20) for ticket in tickets]
        assert {result.failure for result in results} == {"crash"}
        assert "twice" in results[0].detail
        assert agent.submit(job("echo"), 20).result(20).failure == ""
        assert wait_until(lambda: not any(b"300" in command for command in processes(marker_of(agent)).values()))


@pytest.mark.parametrize("tier", TIERS)
def test_a_killed_job_is_a_crash_of_its_own(stand_in, tier):
    with started(stand_in, isolation=tier) as agent:
        tickets = busy(agent)
        for process in with_role(agent, "job"):
            kill(process)
        assert [ticket.result(20).failure for ticket in tickets] == ["crash", "crash"]
        assert agent.submit(job("echo"), 20).result(20).failure == ""
        assert wait_until(lambda: not any(b"300" in command for command in processes(marker_of(agent)).values()))


@pytest.mark.parametrize("seed", range(6))
def test_at_any_moment(stand_in, seed):
    chance = random.Random(seed)  # noqa: S311 - no secret
    tier = TIERS[seed % len(TIERS)]
    for _ in range(2):
        with started(stand_in, isolation=tier) as agent:
            marker = marker_of(agent)
            for number in range(4):
                agent.submit(job("echo" if number % 2 else "leave_orphans"), 20)
            time.sleep(chance.uniform(0, 0.6))
            if everyone := sorted(processes(marker)):
                kill(chance.choice(everyone))
            time.sleep(chance.uniform(0, 0.1))
        assert gone(marker), processes(marker)
    with started(stand_in, isolation=tier) as agent:
        assert agent.submit(job("echo"), 20).result(20).failure == ""


# A program that a shell runs in the background ignores SIGINT; an editor's server does not.
CLIENT = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path[:0] = [{root!r}, {root!r} + "/analysis"]
from pathlib import Path
from tests.agent.processes.agents import job, marker_of, started
with started(Path({directory!r}), isolation={tier!r}) as agent:
    agent.wait_ready(60)
    mark = Path({directory!r}) / "mark"
    ticket = agent.submit({{**job("hold_orphans", mark=str(mark)), "writable": [{directory!r}]}}, 60)
    while not mark.exists():
        time.sleep(0.01)
    print(marker_of(agent).decode(), flush=True)
    {then}
"""


@pytest.mark.parametrize(
    ("tier", "number", "then"),
    [
        *((tier, signal.SIGKILL, "time.sleep(60)") for tier in TIERS),
        (TIERS[0], signal.SIGINT, "time.sleep(60)"),
        (TIERS[0], 0, "raise ValueError('oops')"),
    ],
)
def test_the_end_of_the_client_is_the_end_of_the_agent(stand_in, tier, number, then):
    program = CLIENT.format(root=str(ROOT), directory=str(stand_in), tier=tier, then=then)
    client = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    with client:
        assert client.stdout is not None
        marker = client.stdout.readline().strip()
        assert marker, client.stderr.read() if client.stderr else ""
        if number:
            client.send_signal(number)
        client.wait(20)
        # Its end is not in the way of what is checked: an interrupted client closes its agent before it leaves.
        assert gone(marker), processes(marker)


def test_closing_twice_and_before_anything_is_fine(stand_in):
    with started(stand_in) as agent:
        ticket = agent.submit(job("echo"), 5)
        agent.close()
        agent.close()
        assert ticket.result(1).failure == "dead"
