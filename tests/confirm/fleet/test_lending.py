"""Which worker a program gets."""

from __future__ import annotations

import threading
import time

import pytest

from nonstrict.confirm.answers import Ready
from nonstrict.confirm.client import AgentUnavailable
from nonstrict.confirm.fleet.workers import Lending


class Stub:
    """A worker that is never asked anything."""

    ready = Ready("2.13.0", "3.11.7", "deny", "fork", 0.0, cuda=False)

    def __init__(self, name: str, slots: int = 1) -> None:
        self.name, self.slots = name, slots

    def submit(self, job: object, seconds: float, priority: int = 0):
        raise NotImplementedError


def lending(*workers: Stub) -> Lending[Stub]:
    made: Lending[Stub] = Lending()
    for worker in workers:
        made.add(worker)
    return made


def test_the_one_that_does_least_for_its_size_is_lent():
    of = lending(Stub("small"), Stub("large", slots=3))
    with of.lend() as first, of.lend() as second, of.lend() as third, of.lend() as fourth:
        assert [first.name, second.name, third.name, fourth.name] == ["small", "large", "large", "large"]
    with of.lend() as again:
        assert again.name == "small"


def test_where_none_is_left_nobody_waits_unless_asked_to():
    of = lending(Stub("only"))
    assert of.remove("only") is not None
    with pytest.raises(AgentUnavailable, match="no worker is left"), of.lend():
        pass


def test_one_that_comes_is_waited_for():
    of = lending()
    threading.Timer(0.1, of.add, [Stub("late")]).start()
    with of.lend(patience=20) as worker:
        assert worker.name == "late"


def test_a_refusal_ends_the_waiting_and_the_first_one_counts():
    of = lending()
    threading.Timer(0.1, of.refuse, ["the scheduler is gone"]).start()
    started = time.monotonic()
    with pytest.raises(AgentUnavailable, match="the scheduler is gone"), of.lend(patience=20):
        pass
    assert time.monotonic() - started < 10
    of.refuse("the run is over")
    assert of.refusal == "the scheduler is gone"
