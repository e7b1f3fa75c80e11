"""Work in several processes: every part is taken once, and a failure in one ends the others or is told."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.workers import WorkerError, can_fork, in_processes, in_slices

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

pytestmark = pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")


def test_every_part_is_taken_once():
    shares = in_processes(list, 3, 20)
    assert len(shares) == 3
    assert sorted(number for share in shares for number in share) == list(range(20))


def test_a_failure_in_another_process_is_told():
    parent = os.getpid()

    def work(numbers: Iterator[int]) -> int:
        if os.getpid() != parent:
            raise ValueError("told by the child")
        return len(list(numbers))

    with pytest.raises(WorkerError, match="told by the child"):
        in_processes(work, 2, 2)


def test_a_failure_here_ends_the_others():
    parent = os.getpid()

    def work(numbers: Iterator[int]) -> None:
        if os.getpid() == parent:
            raise ValueError("here")
        time.sleep(60)

    started = time.monotonic()
    with pytest.raises(ValueError, match="here"):
        in_processes(work, 3, 3)
    assert time.monotonic() - started < 30


@pytest.mark.parametrize("jobs", [1, 2, 3])
def test_slices_come_back_in_order(jobs: int):
    items = range(5_000)
    assert [item for slice_ in in_slices(list[int], items, jobs) for item in slice_] == list(items)


def test_slices_are_looked_at_by_several_processes():
    def work(items: Sequence[int]) -> int:
        time.sleep(0.05)
        return os.getpid()

    assert len(set(in_slices(work, range(5_000), 2))) == 2
    assert set(in_slices(work, range(10), 2)) == {os.getpid()}
