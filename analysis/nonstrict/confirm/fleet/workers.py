"""What experiments ask of those who run them, wherever they are, and how a worker is lent for one program.

All experiments with one program run on one worker: what is compared comes from one machine and one torch. Where the
worker is lost, none of what it told counts, and another one begins anew.
"""

from __future__ import annotations

import threading
import time
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from nonstrict.confirm.client import AgentUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from nonstrict.confirm.answers import Ready
    from nonstrict.confirm.arms import Pending


class WorkerLost(Exception):  # noqa: N818 - says what is the case
    """A worker ended, or cannot be reached, while it ran something; the message says how."""


class Worker(Protocol):
    """Runs jobs for one program at a time or for several; a job is JSON, and so is what became of it."""

    @property
    def name(self) -> str:
        """Which one it is, for people."""
        ...

    @property
    def slots(self) -> int:
        """How many jobs it runs at once."""
        ...

    @property
    def ready(self) -> Ready:
        """What runs there."""
        ...

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> Pending:
        """Hand in a job; its result raises `WorkerLost` where there will be none.

        Raises:
            WorkerLost: the worker is gone.
        """
        ...


class Fleet(Protocol):
    """The workers of a run. Every method may be called from any thread."""

    def circumstances(self) -> tuple[str, ...]:
        """What verdicts of this fleet hold for, its torch among it; starts no interpreter.

        Raises:
            AgentUnavailable: the fleet cannot be reached, or is not fit for this project.
        """
        ...

    def start(self) -> None:
        """Start the workers; returns as soon as one is ready.

        Raises:
            AgentUnavailable: none will be.
        """
        ...

    @property
    def slots(self) -> int:
        """How many jobs all workers together run at once."""
        ...

    def lend(self) -> AbstractContextManager[Worker]:
        """The worker that does least, for the experiments of one program.

        Raises:
            AgentUnavailable: none is left.
        """
        ...

    def close(self) -> None:
        """End what still runs, at once; those who wait are told `WorkerLost`."""
        ...


W = TypeVar("W", bound=Worker)


class Lending(Generic[W]):
    """Which workers there are, and how many borrow each."""

    def __init__(self) -> None:
        """There are none yet."""
        self.changed = threading.Condition()
        self._workers: dict[str, W] = {}
        self._borrowers: dict[str, int] = {}
        self._refusal = ""

    @property
    def workers(self) -> list[W]:
        """Those that are there."""
        with self.changed:
            return list(self._workers.values())

    def add(self, worker: W) -> None:
        """Take in a worker that is ready."""
        with self.changed:
            self._workers[worker.name] = worker
            self.changed.notify_all()

    def remove(self, name: str) -> W | None:
        """Lend a worker no more; the worker, if it was there."""
        with self.changed:
            self.changed.notify_all()
            return self._workers.pop(name, None)

    def refuse(self, why: str) -> None:
        """Lend none any more; `why` is a sentence."""
        with self.changed:
            self._refusal = self._refusal or why
            self.changed.notify_all()

    @property
    def refusal(self) -> str:
        """Why there will be no more workers, once that is known."""
        return self._refusal

    def wait(self, fresh: Callable[[], bool], seconds: float | None = None) -> bool:
        """Wait until something is the case about the workers; whether it is."""
        with self.changed:
            return self.changed.wait_for(fresh, seconds)

    @contextmanager
    def lend(self, patience: float = 0.0) -> Generator[W]:
        """The worker that does least; where there is none, one that comes within so many seconds.

        Raises:
            AgentUnavailable: there is none.
        """
        end = time.monotonic() + patience
        with self.changed:
            while self._refusal or not self._workers:
                left = end - time.monotonic()
                if self._refusal or left <= 0:
                    raise AgentUnavailable(self._refusal or "no worker is left")
                self.changed.wait(left)
            name = min(self._workers, key=self._load)
            worker = self._workers[name]
            self._borrowers[name] = self._borrowers.get(name, 0) + 1
        try:
            yield worker
        finally:
            with self.changed:
                self._borrowers[name] -= 1

    def _load(self, name: str) -> float:
        return self._borrowers.get(name, 0) / max(1, self._workers[name].slots)
