"""Runs the analysis on a deep stack, for expressions and call chains of any depth."""

from __future__ import annotations

import gc
import sys
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
_STACK = 512 * 1024 * 1024
_RECURSION = 40_000
#: Platforms of Python that start no threads, as it is in browsers.
_WITHOUT_THREADS = ("emscripten", "wasi")


def with_deep_stack(work: Callable[[], T]) -> T:
    """What `work` returns, run in a thread with a deep stack; what it raises is raised here.

    Where no thread can be started (WebAssembly), it runs in place, as deep as Python allows there: what is nested
    deeper raises a `RecursionError`.
    """
    told: list[T] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            told.append(work())
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            failed.append(error)

    if not _started(run):
        return work()
    if failed:
        raise failed[0]
    return told[0]


def _started(run: Callable[[], None]) -> bool:
    """Run something in a thread with a deep stack, until it ends; whether there is such a thread."""
    if sys.platform in _WITHOUT_THREADS:
        return False
    limit, stack = sys.getrecursionlimit(), threading.stack_size()
    sys.setrecursionlimit(_RECURSION)
    threading.stack_size(_STACK)
    thread = threading.Thread(target=run)
    thread.start()
    threading.stack_size(stack)
    thread.join()
    sys.setrecursionlimit(limit)
    return True


def undisturbed(work: Callable[[], T]) -> T:
    """The same without collecting garbage meanwhile: what an analysis makes is large, and holds no cycles."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return with_deep_stack(work)
    finally:
        if collecting:
            gc.enable()
