"""The one thread that owns the analysis: changes first, then requests, then work in the background.

The event loop hands work over and never waits for it; what comes back is delivered on the loop.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Hashable

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
#: How long nobody must have typed before work in the background goes on, in seconds.
QUIET = 0.25


class SupersededError(Exception):
    """A request is about a text that is no longer the newest."""


class _Request(NamedTuple):
    work: Callable[[], Any]
    future: asyncio.Future[Any]
    is_outdated: Callable[[], bool] | None


class Scheduler:
    """Runs changes, requests and background work one at a time, in a thread of its own.

    `background` does one piece of work and says whether there may be more.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, background: Callable[[], bool]) -> None:
        self._loop = loop
        self._background = background
        self._state = threading.Condition()
        self._changes: dict[Hashable, Callable[[], object]] = {}
        self._requests: deque[_Request] = deque()
        self._idle = True
        self._not_before = 0.0
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="analysis", daemon=True)
        self._thread.start()

    @property
    def is_waited_for(self) -> bool:
        """Whether work in the background should make room for something else."""
        return self._closing or bool(self._changes) or bool(self._requests)

    def change(self, key: Hashable, work: Callable[[], object], *, typing: bool = False) -> None:
        """Have the analysis changed before the next request runs; a later change of the same key replaces it."""
        with self._state:
            self._changes.pop(key, None)
            self._changes[key] = work
            self._idle = False
            if typing:
                self._not_before = time.monotonic() + QUIET
            self._state.notify()

    def ask(self, work: Callable[[], _T], is_outdated: Callable[[], bool] | None = None) -> asyncio.Future[_T]:
        """The result of some work, to be awaited on the loop.

        It raises what the work raises, and `SupersededError` if `is_outdated` holds when its turn comes.
        """
        future: asyncio.Future[_T] = self._loop.create_future()
        with self._state:
            self._requests.append(_Request(work, future, is_outdated))
            self._state.notify()
        return future

    def wake(self) -> None:
        """There may be work in the background again."""
        with self._state:
            self._idle = False
            self._state.notify()

    def tell(self, callback: Callable[..., None], *arguments: object) -> None:
        """Call something on the loop."""
        try:
            self._loop.call_soon_threadsafe(callback, *arguments)
        except RuntimeError:
            # The loop has ended, and with it everybody who could hear of it.
            return

    def close(self, seconds: float = 1.0) -> None:
        """Stop, after what is being done now or after some seconds."""
        with self._state:
            self._closing = True
            self._state.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(seconds)

    def _run(self) -> None:
        while True:
            with self._state:
                while not (self._changes or self._requests or self._closing or self._may_work()):
                    self._state.wait(self._pause())
                if self._closing:
                    return
                changes, self._changes = self._changes, {}
                request = self._requests.popleft() if self._requests else None
            for work in changes.values():
                self._attempt(work)
            if request is not None:
                self._answer(request)
            elif not changes and not self._attempt(self._background):
                with self._state:
                    self._idle = not (self._changes or self._requests)

    def _may_work(self) -> bool:
        return not self._idle and time.monotonic() >= self._not_before

    def _pause(self) -> float | None:
        return None if self._idle else max(self._not_before - time.monotonic(), 0.001)

    @staticmethod
    def _attempt(work: Callable[[], _T]) -> _T | None:
        try:
            return work()
        except Exception:  # noqa: BLE001 - the next piece of work may well succeed
            _log.exception("the analysis failed")
            return None

    def _answer(self, request: _Request) -> None:
        if request.future.cancelled():
            return
        if request.is_outdated is not None and request.is_outdated():
            self.tell(_fail, request.future, SupersededError())
            return
        try:
            result = request.work()
        except Exception as error:  # noqa: BLE001 - whatever it is belongs to who asked
            self.tell(_fail, request.future, error)
        else:
            self.tell(_resolve, request.future, result)


def _resolve(future: asyncio.Future[Any], result: object) -> None:
    if not future.done():
        future.set_result(result)


def _fail(future: asyncio.Future[Any], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
