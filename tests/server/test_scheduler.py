"""The thread of the analysis: order, what is superseded, what waits until nobody types."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

from nonstrict_server.scheduler import QUIET, Scheduler, SupersededError


class Work:
    """Notes what was done, in order."""

    def __init__(self, pieces: int = 0) -> None:
        self.done: list[str] = []
        self.threads: set[int] = set()
        self.pieces = pieces

    def note(self, what: str) -> str:
        self.done.append(what)
        self.threads.add(threading.get_ident())
        return what

    def background(self) -> bool:
        if self.pieces == 0:
            return False
        self.pieces -= 1
        time.sleep(0.001)
        self.note("background")
        return True


def run(play, pieces: int = 0) -> Work:
    work = Work(pieces)

    async def playing() -> None:
        scheduler = Scheduler(asyncio.get_running_loop(), work.background)
        try:
            await asyncio.wait_for(play(scheduler, work), 20)
        finally:
            scheduler.close()

    asyncio.run(playing())
    return work


def test_changes_come_before_requests_and_the_newest_counts():
    async def play(scheduler: Scheduler, work: Work) -> None:
        gate = threading.Event()
        first = scheduler.ask(lambda: gate.wait(10))
        asked = scheduler.ask(lambda: work.note("asked"))
        scheduler.change("a", lambda: work.note("a1"))
        scheduler.change("b", lambda: work.note("b"))
        scheduler.change("a", lambda: work.note("a2"))
        gate.set()
        await first
        assert await asked == "asked"

    work = run(play)
    assert work.done == ["b", "a2", "asked"]
    assert len(work.threads) == 1
    assert threading.get_ident() not in work.threads


def test_what_is_outdated_when_its_turn_comes_is_superseded():
    async def play(scheduler: Scheduler, work: Work) -> None:
        version = 1
        gate = threading.Event()
        first = scheduler.ask(lambda: gate.wait(10), lambda: version != 1)
        asked = scheduler.ask(lambda: work.note("asked"), lambda: version != 1)
        await asyncio.sleep(0.05)
        version = 2
        gate.set()
        # What has begun is answered: the client asks again anyway.
        assert await first
        with pytest.raises(SupersededError):
            await asked

    assert run(play).done == []


def test_a_failure_belongs_to_who_asked():
    async def play(scheduler: Scheduler, work: Work) -> None:
        with pytest.raises(ZeroDivisionError):
            await scheduler.ask(lambda: 1 // 0)
        scheduler.change("bad", lambda: 1 // 0)
        assert await scheduler.ask(lambda: work.note("next")) == "next"

    assert run(play).done == ["next"]


def test_a_cancelled_request_is_not_run():
    async def play(scheduler: Scheduler, work: Work) -> None:
        gate = threading.Event()
        first = scheduler.ask(lambda: gate.wait(10))
        scheduler.ask(lambda: work.note("cancelled")).cancel()
        gate.set()
        await first
        await scheduler.ask(lambda: work.note("after"))

    assert run(play).done == ["after"]


def test_background_work_waits_while_somebody_types():
    async def play(scheduler: Scheduler, work: Work) -> None:
        scheduler.change("text", lambda: None, typing=True)
        await scheduler.ask(lambda: work.note("asked"))
        begun = time.monotonic()
        while "background" not in work.done:
            await asyncio.sleep(0.01)
        assert time.monotonic() - begun > QUIET / 2

    work = run(play, pieces=3)
    assert work.done[0] == "asked"


def test_requests_come_between_pieces_of_background_work():
    async def play(scheduler: Scheduler, work: Work) -> None:
        scheduler.wake()
        while work.pieces > 995:
            await asyncio.sleep(0.001)
        await scheduler.ask(lambda: work.note("asked"))

    work = run(play, pieces=1000)
    assert 0 < work.done.index("asked") < 1000
