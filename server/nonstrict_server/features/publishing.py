"""Diagnostics for clients that do not ask for them: published whenever they may be others."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.documents import Place
from nonstrict_server.features.watched_files import is_configuration
from nonstrict_server.protocol import Encoded
from nonstrict_server.scheduler import SupersededError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict_server.reports import Report
    from nonstrict_server.server import Server


def start(server: Server) -> None:
    """Publish from now on."""
    publisher = _Publisher(server)
    server.on_edited.append(lambda path: publisher.publish(frozenset({path})))
    server.on_changed.append(publisher.publish)


class _Publisher:
    """What was published of which document, and for which version."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._published: dict[str, tuple[str, int | None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def publish(self, paths: frozenset[str] | None) -> None:
        """Publish the diagnostics of some files (`None`: all that are shown)."""
        documents = self._server.documents
        # What is wrong with files of configuration is published as it is found.
        shown = {path for path in documents.open_paths() if not is_configuration(path)}
        if self._server.shows_workspace:
            shown |= paths or frozenset()
        for path in sorted(shown if paths is None else shown & paths):
            for uri, cell in documents.documents_of(path) or [(documents.uri_of(path), None)]:
                self._start(uri, Place(path, cell))
        self._withdraw(documents.place_of(uri).path for uri in list(self._published))

    def _start(self, uri: str, place: Place) -> None:
        task = asyncio.ensure_future(self._one(uri, place))
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def _one(self, uri: str, place: Place) -> None:
        documents = self._server.documents
        version = documents.version_of(uri)
        try:
            report: Report = await self._server.ask(
                lambda engine: engine.report(*place), lambda: documents.version_of(uri) != version
            )
        except SupersededError:
            # The newer text is being looked at already.
            return
        if self._published.get(uri) == (report.identity, version) or not self._is_shown(place):
            return
        self._send(uri, version, report.items)
        self._published[uri] = (report.identity, version)

    def _withdraw(self, paths: Iterable[str]) -> None:
        """Clear what was published of documents that are closed now."""
        gone = {path for path in paths if not self._is_shown(Place(path))}
        for uri in [uri for uri in self._published if self._server.documents.place_of(uri).path in gone]:
            del self._published[uri]
            self._send(uri, None, "")

    def _is_shown(self, place: Place) -> bool:
        return self._server.documents.is_open(place.path) or self._server.shows_closed(place.path)

    def _send(self, uri: str, version: int | None, items: str) -> None:
        of_version = "" if version is None else f'"version":{version},'
        params = Encoded(f'{{"uri":{json.dumps(uri)},{of_version}"diagnostics":[{items}]}}')
        self._server.protocol.notify_encoded(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, params)
