"""A line above each marked function: how many findings it has, whether they came true, and a way to find out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.features.commands import CANCEL, CONFIRM_FUNCTION
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.summaries import lens_title

if TYPE_CHECKING:
    from nonstrict.check.live.results import Mark
    from nonstrict.findings import Diagnostic, Location
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


def register(server: Server) -> None:
    """Answer requests for lenses."""
    server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=False))(code_lens)


async def code_lens(ls: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """The lenses of a document."""
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    if not ls.settings_of(place.path).code_lens:
        return []
    version = ls.documents.version_of(uri)
    return await ls.scheduler.ask(lambda: _lenses(ls, uri, place), lambda: ls.documents.version_of(uri) != version)


def _lenses(ls: Server, uri: str, place: Place) -> list[lsp.CodeLens]:
    """In the thread of the analysis."""
    marks = [mark for mark in ls.engine.marks(place.path) if _place_of(mark).cell == place.cell]
    if not marks:
        return []
    source = ls.engine.source(place.path)
    found = ls.engine.findings_of(place.path, "")
    lenses: dict[tuple[str, int], lsp.CodeLens] = {}
    for mark in marks:
        findings = [one for one in found if one.function == mark.function]
        where = places_of(_above(mark, source), source, ls.documents.encoding)
        start = range_of((where[0], 0, where[0], 0))
        lenses.setdefault((mark.function, where[0]), lsp.CodeLens(start, _command(ls, uri, place, mark, findings)))
    return list(lenses.values())


def _place_of(mark: Mark) -> Location:
    """The definition of the function if it is in the same file, else the marker."""
    here = mark.definition is not None and mark.definition.path == mark.location.path
    return mark.definition if here and mark.definition is not None else mark.location


def _above(mark: Mark, source: Source | None) -> Location:
    """Where the lens stands: above the function and a marker that decorates it."""
    place, marker = _place_of(mark), mark.location
    if source is None or marker.row >= place.row or marker.cell != place.cell:
        return place
    return marker if source.line_text(marker.row, marker.cell).lstrip().startswith("@") else place


def _command(ls: Server, uri: str, place: Place, mark: Mark, findings: list[Diagnostic]) -> lsp.Command:
    running = ls.confirmers.running.get(place.path)
    if not findings or (running is not None and running.function not in {"", mark.function}):
        running = None
    confirmable = ls.trusted and ls.settings_of(place.path).confirm != "off"
    title = lens_title(findings, running, confirmable=confirmable)
    if running is not None:
        return lsp.Command(title, CANCEL, arguments=[uri])
    if confirmable and findings:
        return lsp.Command(title, CONFIRM_FUNCTION, arguments=[uri, mark.function])
    # A lens without a command is one that is still to be resolved; one without a name cannot be clicked.
    return lsp.Command(title, "")
