"""From a finding to the places that explain it: who writes what it reads, and the calls that lead to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.positions import places_of, point_of, range_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Answer requests for references."""
    server.feature(lsp.TEXT_DOCUMENT_REFERENCES)(references)


async def references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    """The writers of the name that a finding at a position is about; nothing elsewhere."""
    place = ls.documents.place_of(params.text_document.uri)
    return await ls.scheduler.ask(lambda: _references(ls, place, params.position))


def finding_at(ls: Server, place: Place, position: lsp.Position) -> Diagnostic | None:
    """The finding at a position, the narrowest if there are several; in the thread of the analysis."""
    source = ls.engine.source(place.path)
    if source is None:
        return None
    point = point_of(position, source, place.cell, ls.documents.encoding)
    around = [
        one
        for one in ls.engine.diagnostics(place.path)
        if one.location.cell == place.cell
        and one.function
        and (one.location.row, one.location.column) <= point <= (one.location.end_row, one.location.end_column)
    ]
    return min(around, key=lambda one: (one.location.end_row - one.location.row, one.location.end_column), default=None)


def locations(ls: Server, found: Iterable[Location]) -> list[lsp.Location]:
    """Locations of the analysis as those of the protocol; in the thread of the analysis."""
    return [
        lsp.Location(
            ls.documents.uri_of(one.path, one.cell),
            range_of(places_of(one, ls.engine.source(one.path), ls.documents.encoding)),
        )
        for one in dict.fromkeys(found)
    ]


def _references(ls: Server, place: Place, position: lsp.Position) -> list[lsp.Location]:
    finding = finding_at(ls, place, position)
    if finding is None:
        return []
    markers = {marker for _, marker in finding.others}
    evidence = (related.location for related in finding.related[finding.links :])
    return locations(ls, (where for where in evidence if where not in markers))
