"""Runs parts of an analysis in forked processes: they share what was read, and send back what they found."""

from __future__ import annotations

import os
import pickle
import sys
import traceback
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

T = TypeVar("T")


class WorkerError(Exception):
    """A process failed; the message is its traceback."""


def can_fork() -> bool:
    """Whether processes can be forked here: not on Windows, and not on macOS, whose libraries do not survive it."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def in_processes(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Run each task in a process of its own, the first in this one; results in the order of the tasks.

    The results must be picklable. Must be called while the process has one thread.

    Raises:
        WorkerError: a task failed in its process.
    """
    children = [_start(task) for task in tasks[1:]]
    try:
        results = [tasks[0]()]
    except BaseException:
        for _, descriptor in children:
            os.close(descriptor)
        raise
    for process, descriptor in children:
        with os.fdopen(descriptor, "rb") as pipe:
            data = pipe.read()
        os.waitpid(process, 0)
        if not data:
            raise WorkerError("a worker process ended without a result; run with `-j 1` to see why")
        failed, told = pickle.loads(data)  # noqa: S301 - written by our own child process
        if failed:
            raise WorkerError(told)
        results.append(told)
    return results


def _start(task: Callable[[], T]) -> tuple[int, int]:
    """Fork a process for a task; its id, and the descriptor its result arrives on."""
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
            message = (True, traceback.format_exc())
        with os.fdopen(writer, "wb") as pipe:
            pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)
