"""Runs in one-shot workers: processes that import torch ahead of time, take one job each, and are replaced."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from nonstrict_agent.framing import PIECE, FramingError, Lines, line_of, selectable, write_all
from nonstrict_agent.pools import Pool, Surroundings, how_it_ended, spawn

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_agent.results import Run


class _Worker:
    """One process that imports torch and then takes one run."""

    def __init__(self, shared: Surroundings, device: str, heard: Callable[[_Worker], None]) -> None:
        told = {"parent": os.getpid(), "device": device, "cache": shared.cache}
        # Where isolation makes the process a session leader itself, it must not be one already.
        alone = sys.platform == "darwin"
        self.process = spawn(
            "worker", told, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=alone
        )
        self.alone = alone
        assert self.process.stdout is not None  # noqa: S101 - it was asked for
        output = self.process.stdout.fileno()
        self.stream = selectable(os.dup(output) if os.name == "nt" else output)
        self.lines = Lines()
        self.run: Run | None = None
        self.unusable: tuple[str, str] = ("", "")
        self.is_ready = False
        shared.owner.selector.register(self.stream, 1, lambda: heard(self))

    def read(self) -> bytes:
        """The next bytes it wrote; nothing at its end."""
        with contextlib.suppress(OSError):
            return os.read(self.stream, PIECE) if isinstance(self.stream, int) else self.stream.recv(PIECE)
        return b""

    def kill(self) -> None:
        """End it and what it started."""
        pid = self.process.pid
        if sys.platform == "linux":
            from nonstrict_agent.isolation.tiers import end

            end(pid)
        elif self.alone:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
        self.process.kill()


class WorkerPool(Pool):
    """Keeps as many workers ready as jobs may run at once; for a GPU one, and one job at a time."""

    def __init__(self, shared: Surroundings, device: str) -> None:
        super().__init__(shared, device)
        self._workers: list[_Worker] = []
        self._failed = 0
        self._size = shared.slots if device == "cpu" else 1
        self._refill()

    def can_take(self, run: Run) -> bool:
        """See `Pool`."""
        if self.device != "cpu" and self.runs:
            return False
        return any(worker.is_ready and worker.run is None for worker in self._workers)

    def take(self, run: Run) -> None:
        """See `Pool`."""
        worker = next(worker for worker in self._workers if worker.is_ready and worker.run is None)
        worker.run = run
        self.runs.append(run)
        stdin = worker.process.stdin
        assert stdin is not None  # noqa: S101 - it was asked for
        with contextlib.suppress(OSError):  # It is dead: the end of its stream says so.
            write_all(stdin.fileno(), line_of({"job": run.job, **self.shared.settings(run)}))
        stdin.close()
        self._refill()

    def end(self, run: Run) -> None:
        """See `Pool`."""
        for worker in self._workers:
            if worker.run is run:
                worker.kill()

    def pids(self) -> set[int]:
        """See `Pool`."""
        return {worker.process.pid for worker in self._workers}

    def close(self) -> None:
        """See `Pool`."""
        for worker in self._workers:
            self._close(worker)
        self._workers.clear()

    def _refill(self) -> None:
        while sum(worker.run is None for worker in self._workers) < self._size:
            self._workers.append(_Worker(self.shared, self.device, self._heard))

    def _close(self, worker: _Worker) -> None:
        worker.kill()
        self.shared.owner.selector.unregister(worker.stream)
        if not isinstance(worker.stream, int):
            worker.stream.close()
        for pipe in (worker.process.stdin, worker.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        worker.process.wait()

    def _heard(self, worker: _Worker) -> None:
        """Take in what a worker wrote: first of itself, then the result of its run."""
        piece = worker.read()
        if worker.run is None:
            try:
                messages = worker.lines.feed(piece)
            except FramingError:
                messages = []
            for message in messages:
                self._told(worker, message)
        elif piece and not worker.run.take(piece):
            worker.kill()
        if not piece or (worker.run is not None and worker.run.is_complete()):
            self._over(worker)

    def _told(self, worker: _Worker, message: dict[str, Any]) -> None:
        if message.get("event") == "unusable":
            worker.unusable = (str(message["reason"]), str(message["text"]))
        elif message.get("name") == "ready":
            worker.is_ready, self._failed = True, 0
            self.was_ready = True
            self.shared.owner.ready(self, message)
        elif not self.was_ready:
            self.shared.owner.progress(message)

    def _over(self, worker: _Worker) -> None:
        """A worker is at its end, with its run or before it had one."""
        self._workers.remove(worker)
        self._close(worker)
        run = worker.run
        if run is not None:
            self.runs.remove(run)
            self.shared.owner.ended(run)
            return
        self._failed += 1
        if worker.unusable[0] or self._failed > 2:
            self.close()
            reason, text = worker.unusable
            self.shared.owner.lost(self, reason or "died", text or how_it_ended(worker.process.returncode))
            return
        self._refill()
