"""Runs parts of an analysis in forked processes: they share what was read, and send back what they found."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
_Item = TypeVar("_Item")
#: Fewer items are not worth another process, where each is looked at for a tenth of a millisecond.
_MIN_SHARED = 400
#: Bytes of a number in a pipe, which holds 65,536.
_WIDTH = 2
#: Slices for each process: one that is slowed down leaves more to the others.
_SLICES = 4


class WorkerError(Exception):
    """A process failed; the message is its traceback."""


def can_fork() -> bool:
    """Whether processes can be forked here: not on Windows, and not on macOS, whose libraries do not survive it."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def in_processes(
    work: Callable[[Iterator[int]], T], jobs: int, parts: int, lost: list[WorkerError] | None = None
) -> list[T]:
    """Run `work` in several processes, this one among them; each is handed the next part's number when it asks.

    The results must be picklable. Must be called while the process has one thread. At most 30,000 parts. Where `lost`
    is given, what became of processes that failed is added to it, and only the results of the others are returned.

    Raises:
        WorkerError: the work failed in a process, and `lost` is not given.
    """
    numbers, writer = os.pipe()
    os.write(writer, b"".join(number.to_bytes(_WIDTH, "big") for number in range(parts)))
    os.close(writer)
    children = [_start(lambda: work(_numbers(numbers))) for _ in range(jobs - 1)]
    try:
        results = [work(_numbers(numbers))]
    except BaseException:
        # Nobody will read what the others find.
        for process, descriptor in children:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            os.close(descriptor)
        raise
    finally:
        os.close(numbers)
    for process, descriptor in children:
        try:
            results.append(_result(process, descriptor))
        except WorkerError as error:
            if lost is None:
                raise
            lost.append(error)
    return results


def in_own_process(work: Callable[[], T]) -> T:
    """Run `work` in a process of its own, which may end as it likes; the result must be picklable.

    Raises:
        WorkerError: the work failed.
    """
    return _result(*_start(work))


def _result(process: int, descriptor: int) -> Any:
    """What a process found, once it has ended.

    Raises:
        WorkerError: it failed.
    """
    import pickle

    with os.fdopen(descriptor, "rb") as pipe:
        data = pipe.read()
    os.waitpid(process, 0)
    if not data:
        raise WorkerError("a worker process ended without a result; run with `-j 1` to see why")
    failed, told = pickle.loads(data)  # noqa: S301 - written by our own child process
    if failed:
        raise WorkerError(told)
    return told


def in_slices(work: Callable[[Sequence[_Item]], T], items: Sequence[_Item], jobs: int) -> list[T]:
    """What `work` gives for slices of some items, in their order; in several processes where that is worth it.

    The slices of a process that was killed are done once more, in this one.
    """
    jobs = min(jobs, 1 + len(items) // _MIN_SHARED)
    if jobs < 2 or not can_fork():
        return [work(items)]
    count = jobs * _SLICES
    bounds = [len(items) * number // count for number in range(count + 1)]

    def some(numbers: Iterable[int]) -> list[tuple[int, T]]:
        return [(number, work(items[bounds[number] : bounds[number + 1]])) for number in numbers]

    done = dict(one for share in in_processes(some, jobs, count, lost=[]) for one in share)
    done.update(some(number for number in range(count) if number not in done))
    return [done[number] for number in range(count)]


def _numbers(descriptor: int) -> Iterator[int]:
    """The numbers of parts that no process has taken yet; a read from a pipe takes one, whoever reads."""
    while taken := os.read(descriptor, _WIDTH):
        yield int.from_bytes(taken, "big")


def _start(task: Callable[[], T]) -> tuple[int, int]:
    """Fork a process for a task; its id, and the descriptor its result arrives on."""
    import pickle

    reader, writer = os.pipe()
    process = os.fork()
    if process:
        os.close(writer)
        return process, reader
    os.close(reader)
    try:
        try:
            message = (False, task())
        except Exception:  # noqa: BLE001 - reported to the parent process
            import traceback

            message = (True, traceback.format_exc())
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)
