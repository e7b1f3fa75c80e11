"""Tells clients that pull, and those that show lenses, hints, tokens, regions or verdicts, what is out of date."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from nonstrict_server.features import region_map, verdicts
from nonstrict_server.scheduler import SupersededError

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_server.confirming import Running
    from nonstrict_server.server import Server

#: Changes that follow each other within this time are one, in seconds.
_PAUSE = 0.1


def register(server: Server) -> None:
    """Refresh when something else than typing in a document changed what is to be shown in it."""
    refresher = _Refresher(server)
    server.on_changed.append(refresher.changed)
    server.on_running.append(refresher.running)


class _Refresher:
    """What has changed since the client was told last."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._paths: set[str] = set()
        self._all = False
        self._later: asyncio.TimerHandle | None = None
        self._lenses: asyncio.TimerHandle | None = None
        self._running: dict[str, Running | None] = {}
        self._task: asyncio.Task[None] | None = None
        #: Whether the user wanted names to be coloured when the client was told last.
        self._coloured = False

    def changed(self, paths: frozenset[str] | None) -> None:
        """Diagnostics of some files (`None`: all) may be others."""
        self._all = self._all or paths is None
        self._paths.update(paths or ())
        if self._later is None:
            self._later = asyncio.get_running_loop().call_later(_PAUSE, self._start)

    def running(self, path: str) -> None:
        """How far the experiments of a file are may have changed."""
        now = self._server.confirmers.running.get(path)
        if self._running.get(path) != now:
            self._running[path] = now
            self.lenses_changed()

    def lenses_changed(self) -> None:
        """What lenses say is out of date."""
        if self._lenses is None:
            self._lenses = asyncio.get_running_loop().call_later(_PAUSE, self._refresh_lenses)

    def _start(self) -> None:
        self._later = None
        self._task = asyncio.ensure_future(self._refresh())

    async def _refresh(self) -> None:
        server, documents = self._server, self._server.documents
        paths, everything = frozenset(self._paths), self._all
        self._paths.clear()
        self._all = False
        shown = [path for path in documents.open_paths() if everything or path in paths]
        whole = server.shows_workspace
        stale = whole and (everything or bool(paths - set(shown)))
        if server.abilities.pulls and server.abilities.refreshes_diagnostics:
            for path in shown:
                stale = stale or await self._is_stale(path)
            if stale:
                server.workspace_diagnostic_refresh(None)
        if shown or server.abilities.maps_regions:
            self.lenses_changed()

    async def _is_stale(self, path: str) -> bool:
        server = self._server
        documents = server.documents.documents_of(path)
        try:
            return await server.scheduler.ask(lambda: any(server.engine.is_stale(path, cell) for _, cell in documents))
        except SupersededError:
            return False

    def _refresh_lenses(self) -> None:
        self._lenses = None
        abilities = self._server.abilities
        self._send(self._server.workspace_code_lens_refresh, if_able=abilities.refreshes_lenses)
        self._send(self._server.workspace_inlay_hint_refresh, if_able=abilities.refreshes_hints)
        coloured = any(settings.tokens for settings in self._server.settings.values())
        self._send(
            self._server.workspace_semantic_tokens_refresh,
            if_able=abilities.refreshes_tokens and (coloured or self._coloured),
        )
        self._coloured = coloured
        self._send(lambda _: self._server.protocol.notify(region_map.CHANGED, {}), if_able=abilities.maps_regions)
        self._send(lambda _: self._server.protocol.notify(verdicts.CHANGED, {}), if_able=abilities.draws_verdicts)

    @staticmethod
    def _send(refresh: Callable[[None], object], *, if_able: bool) -> None:
        if if_able:
            refresh(None)
