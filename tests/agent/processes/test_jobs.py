"""Jobs in a running agent with the real torch: results, failures, and that none of them harms the next."""

from __future__ import annotations

import shutil
import time

import pytest

from nonstrict.confirm.client import as_completed
from tests.agent.processes.agents import gone, job, marker_of, processes, role_of, tiers, wait_until

FUNCTIONS = (f"std::regex r{number}(char const* s) {{ return std::regex(s); }}" for number in range(9))
HEAVY = "\n".join(["#include <regex>", *FUNCTIONS])


def run(agent, function, **arguments):
    return agent.submit(job(function, **arguments), 60).result(120)


def marker_file(tmp_path):
    """A file that a job writes for the test to see: its directory must be writable through any isolation."""
    return tmp_path / "started"


def watched(tmp_path, function, **arguments):
    return {**job(function, mark=str(marker_file(tmp_path)), **arguments), "writable": [str(tmp_path)]}


def started(tmp_path):
    return wait_until(marker_file(tmp_path).exists)


def test_ready_tells_what_runs(agent):
    ready = agent.wait_ready()
    assert ready.tier == tiers()[0]
    assert ready.mode == "fork"
    assert ready.torch.startswith("2.")
    assert ready.python.count(".") == 2


def test_a_job_returns_its_value(agent):
    result = run(agent, "echo", text="ü ✓", nested={"list": [1, 2.5, None]})
    assert result.failure == "", result
    assert result.value is not None
    assert result.value["text"] == "ü ✓"
    assert result.value["nested"] == {"list": [1, 2.5, None]}
    assert 0 < result.seconds < 60


def test_twenty_jobs_share_two_slots(agent):
    tickets = [agent.submit({**job("sleep", seconds=0.2), "number": number}, 30) for number in range(20)]
    done = list(as_completed(tickets, 120))
    assert sorted(ticket.job["number"] for ticket in done) == list(range(20))
    assert {ticket.result().failure for ticket in done} == {""}


def test_lower_priorities_run_first(agent):
    stays, ends = [agent.submit(job("sleep", seconds=60), 90) for _ in range(2)]
    later = agent.submit(job("echo"), 30, priority=2)
    sooner = agent.submit(job("echo"), 30, priority=1)
    soonest = agent.submit(job("echo"), 30)
    ends.cancel()
    assert list(as_completed([later, sooner, soonest], 60)) == [soonest, sooner, later]
    stays.cancel()


@pytest.mark.parametrize(
    ("function", "failure", "detail"),
    [
        ("crash", "crash", "segmentation fault"),
        ("leave", "crash", "3"),
        ("fail", "crash", "ValueError: no such luck"),
        ("hoard", "memory", ""),
    ],
)
def test_what_ends_a_job_is_a_result(agent, function, failure, detail):
    result = run(agent, function)
    assert (result.value, result.failure) == (None, failure), result
    assert detail in result.detail
    assert run(agent, "echo").failure == ""


def test_a_job_that_takes_too_long_is_ended(agent):
    began = time.monotonic()
    result = agent.submit(job("sleep", seconds=60), 0.5).result(30)
    assert result.failure == "timeout"
    assert time.monotonic() - began < 10


def test_a_result_may_be_large_but_not_without_end(agent):
    fits = run(agent, "big", size=20 << 20)
    assert fits.value is not None
    assert len(fits.value["text"]) == 20 << 20
    assert run(agent, "big", size=66 << 20).failure == "size"
    assert run(agent, "echo").failure == ""


def test_prints_do_not_reach_the_messages(agent):
    result = run(agent, "print_much")
    assert (result.value, result.failure) == ({}, "")
    assert len(result.printed) < 100_000


def test_a_waiting_job_is_cancelled_without_a_process(agent):
    blockers = [agent.submit(job("sleep", seconds=0.5), 30) for _ in range(2)]
    waiting = agent.submit(job("echo"), 30)
    waiting.cancel()
    assert waiting.result(10)[:2] == (None, "cancelled")
    assert waiting.result().seconds == 0
    assert [blocker.result(30).failure for blocker in blockers] == ["", ""]


def test_cancelling_ends_what_the_job_started(agent, tmp_path):
    ticket = agent.submit(watched(tmp_path, "hold_orphans"), 60)
    assert started(tmp_path)
    assert any(b"300" in command for command in processes(marker_of(agent)).values())
    ticket.cancel()
    assert ticket.result(10).failure == "cancelled"
    assert wait_until(lambda: not any(b"300" in command for command in processes(marker_of(agent)).values()))


def test_what_a_job_leaves_behind_ends_with_it(agent):
    assert run(agent, "leave_orphans").failure == ""
    assert wait_until(lambda: not any(b"300" in command for command in processes(marker_of(agent)).values()))


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_cancelling_while_the_compiler_runs_leaves_none(agent, tmp_path):
    source = tmp_path / "heavy.cpp"
    source.write_text(HEAVY)
    ticket = agent.submit(watched(tmp_path, "compile_with_gcc", source=str(source)), 60)

    def compiling():
        return any(b"cc1plus" in command[0] for command in processes(marker_of(agent)).values())

    assert wait_until(compiling)
    ticket.cancel()
    assert ticket.result(10).failure == "cancelled"
    assert wait_until(lambda: not compiling())
    assert run(agent, "echo").failure == ""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++ here")
def test_a_kernel_that_was_being_compiled_leaves_no_lock(agent):
    def kernel(factor):
        return {**job("compile_kernel", backend="inductor", factor=factor), "backend": "inductor"}

    first = agent.submit(kernel(1.5), 240).result(300)
    assert first.value is not None, first
    assert first.value["same"]

    def compiling():
        return any(b"g++" in command[0] for command in processes(marker_of(agent)).values())

    ticket = agent.submit(kernel(2.5), 60)
    assert wait_until(compiling)
    ticket.cancel()
    assert ticket.result(10).failure == "cancelled"
    again = agent.submit(kernel(2.5), 60).result(90)
    assert again.value is not None, again
    assert again.value["same"]
    assert again.value["seconds"] < 30


def test_kernels_are_not_kept_where_the_warm_process_looks(agent):
    result = run(agent, "compile_kernel", backend="aot_eager", factor=2.0)
    assert result.value is not None
    assert result.value["same"]
    assert f"/cache/{agent.ready.tier}/projects/" in result.value["cache"]


def test_the_zygote_stays_the_same(agent):
    zygotes = [pid for pid, command in processes(marker_of(agent)).items() if role_of(command) == "zygote"]
    assert run(agent, "crash").failure == "crash"
    assert [pid for pid, command in processes(marker_of(agent)).items() if role_of(command) == "zygote"] == zygotes
    assert len(zygotes) == 1
    assert not gone(marker_of(agent), 0)
