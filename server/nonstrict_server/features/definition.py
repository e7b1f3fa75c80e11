"""From a finding to where the name that it is about comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.features.references import finding_at, locations
from nonstrict_server.navigation import definition_of

if TYPE_CHECKING:
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Answer requests for definitions."""
    server.feature(lsp.TEXT_DOCUMENT_DEFINITION)(definition)


async def definition(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    """The definition of the name that a finding at a position is about; nothing elsewhere."""
    place = ls.documents.place_of(params.text_document.uri)
    return await ls.scheduler.ask(lambda: _definition(ls, place, params.position))


def _definition(ls: Server, place: Place, position: lsp.Position) -> list[lsp.Location]:
    """In the thread of the analysis."""
    finding = finding_at(ls, place, position)
    return locations(ls, definition_of(ls.engine, finding)) if finding is not None else []
