"""Work that takes long: shown by the client while it goes on, and cancelled there."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import time
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_server.recording import Traced
    from nonstrict_server.server import Server

_log = logging.getLogger(__name__)
_numbers = itertools.count(1)
#: Work in the background is not worth a word before it has taken so many seconds.
_PATIENCE = 0.5


def register(server: Server) -> None:
    """Show the background scan and the experiments."""
    cancels: dict[lsp.ProgressToken, Callable[[], None]] = {}

    def cancelled(params: lsp.WorkDoneProgressCancelParams) -> None:
        cancels.pop(params.token, _nothing)()

    server.feature(lsp.WINDOW_WORK_DONE_PROGRESS_CANCEL)(cancelled)
    server.on_worked = _Background(server, cancels).worked
    experiments = _Experiments(server, cancels)
    server.on_running.append(experiments.running)
    server.on_recording.append(_Recording(server, cancels).running)


class WorkDone:
    """One piece of work, from its title to its end."""

    def __init__(
        self,
        server: Server,
        title: str,
        cancels: dict[lsp.ProgressToken, Callable[[], None]],
        cancel: Callable[[], None],
    ) -> None:
        self._server = server
        self._cancels = cancels
        self._token = f"nonstrict/{next(_numbers)}"
        self._begun = self._ended = False
        self._title = title
        self._latest: tuple[str, int] = ("", 0)
        self._last: tuple[str, int] | None = None
        if server.abilities.progresses:
            cancels[self._token] = cancel
            self._task = asyncio.ensure_future(self._begin())

    def report(self, message: str, percentage: int) -> None:
        """Say how far the work is."""
        self._latest = (message, percentage)
        if self._begun and self._latest != self._last:
            self._last = self._latest
            self._send(lsp.WorkDoneProgressReport(message=message, percentage=percentage))

    def end(self) -> None:
        """The work is done, or will not be."""
        if self._ended:
            return
        self._ended = True
        self._cancels.pop(self._token, None)
        if self._begun:
            self._send(lsp.WorkDoneProgressEnd())

    async def _begin(self) -> None:
        try:
            await self._server.window_work_done_progress_create_async(lsp.WorkDoneProgressCreateParams(self._token))
        except Exception:  # noqa: BLE001 - a client that refuses shows nothing
            self.end()
            return
        if self._ended:
            return
        self._begun = True
        message, percentage = self._latest
        self._send(
            lsp.WorkDoneProgressBegin(
                title=self._title, cancellable=True, message=message or None, percentage=percentage
            )
        )

    def _send(self, value: object) -> None:
        self._server.protocol.notify(lsp.PROGRESS, lsp.ProgressParams(self._token, value))


class _Background:
    """The scan of the workspace."""

    def __init__(self, server: Server, cancels: dict[lsp.ProgressToken, Callable[[], None]]) -> None:
        self._server = server
        self._cancels = cancels
        self._since: float | None = None
        self._work: WorkDone | None = None

    def worked(self, done: int, total: int) -> None:
        """So many files are done, of so many; 0 of 0 when all are."""
        if total == 0:
            self._end()
            return
        now = time.monotonic()
        self._since = self._since if self._since is not None else now
        if self._work is None and now - self._since > _PATIENCE:
            self._work = WorkDone(self._server, "nonstrict: examining marked functions", self._cancels, self._cancel)
        if self._work is not None:
            self._work.report(f"{done}/{total}", 100 * done // total)

    def _cancel(self) -> None:
        self._server.change("pause", lambda engine: engine.pause())
        self._end()

    def _end(self) -> None:
        if self._work is not None:
            self._work.end()
        self._work = self._since = None


class _Experiments:
    """The experiments of each file."""

    def __init__(self, server: Server, cancels: dict[lsp.ProgressToken, Callable[[], None]]) -> None:
        self._server = server
        self._cancels = cancels
        self._works: dict[str, WorkDone] = {}

    def running(self, path: str) -> None:
        """How far the experiments of a file are has changed."""
        running = self._server.confirmers.running.get(path)
        if running is None:
            work = self._works.pop(path, None)
            if work is not None:
                work.end()
            return
        if path not in self._works:
            title = f"nonstrict: confirming {os.path.basename(path)}"
            self._works[path] = WorkDone(self._server, title, self._cancels, lambda: self._cancel(path))
        state = self._server.confirmers.state
        message = f"{running.done}/{running.total}" + (f" · {state}" if state else "")
        self._works[path].report(message, 100 * running.done // max(running.total, 1))

    def _cancel(self, path: str) -> None:
        self._server.confirmers.cancel(path)


class _Recording:
    """The test or the script that is run with recording."""

    def __init__(self, server: Server, cancels: dict[lsp.ProgressToken, Callable[[], None]]) -> None:
        self._server = server
        self._cancels = cancels
        self._work: WorkDone | None = None

    def running(self, target: Traced | None) -> None:
        """Something else is run now, or nothing."""
        if self._work is not None:
            self._work.end()
        title = f"nonstrict: tracing {target.name}" if target is not None else ""
        self._work = WorkDone(self._server, title, self._cancels, self._cancel) if title else None

    def _cancel(self) -> None:
        self._server.recorder.cancel()


def _nothing() -> None:
    """The work has ended by itself."""
