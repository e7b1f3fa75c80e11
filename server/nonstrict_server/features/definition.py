"""From a finding to where the name that it is about comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.confirming import in_thread
from nonstrict_server.features.references import finding_at, locations
from nonstrict_server.navigation import definition_of

if TYPE_CHECKING:
    from nonstrict.findings import Diagnostic
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Answer requests for definitions."""
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(definition)


async def definition(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    """The definition of the name that a finding at a position is about; nothing elsewhere.

    Looking it up may take seconds, in which the analysis does other things.
    """
    place = ls.documents.place_of(params.text_document.uri)
    source, finding = await ls.scheduler.ask(lambda: _asked_about(ls, place, params.position))
    if source is None or finding is None:
        return []
    found = await in_thread(lambda: definition_of(source, finding))
    return await ls.scheduler.ask(lambda: locations(ls, found)) if found else []


def _asked_about(ls: Server, place: Place, position: lsp.Position) -> tuple[Source | None, Diagnostic | None]:
    """The finding at a position, and the text it is in; in the thread of the analysis."""
    finding = finding_at(ls, place, position)
    return (ls.engine.source(finding.location.path), finding) if finding is not None else (None, None)
