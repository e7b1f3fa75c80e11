"""Words behind what a trace would freeze: captured state, specialised primitives. Only if the user wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.positions import places_of

if TYPE_CHECKING:
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

#: What becomes of the value of an expression, by rule.
_HINTS = {
    "NST101": "frozen",
    "NST102": "frozen",
    "NST103": "frozen",
    "NST104": "frozen",
    "NST105": "mode frozen",
    "NST106": "unguarded",
    "NST301": "drawn once",
    "NST505": "specialised",
    "NST506": "decided once",
}


def register(server: Server) -> None:
    """Answer requests for hints."""
    server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintOptions(resolve_provider=False))(inlay_hints)


async def inlay_hints(ls: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """The hints of a range."""
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    if not ls.settings_of(place.path).inlay_hints:
        return []
    version = ls.documents.version_of(uri)
    rows = (params.range.start.line + 1, params.range.end.line + 1)
    return await ls.scheduler.ask(lambda: _hints(ls, place, rows), lambda: ls.documents.version_of(uri) != version)


def _hints(ls: Server, place: Place, rows: tuple[int, int]) -> list[lsp.InlayHint]:
    """In the thread of the analysis."""
    source = ls.engine.source(place.path)
    hints: list[lsp.InlayHint] = []
    for one in ls.engine.diagnostics(place.path):
        word = _HINTS.get(one.code)
        if word is None or one.location.cell != place.cell or not rows[0] <= one.location.end_row <= rows[1]:
            continue
        _, _, line, character = places_of(one.location, source, ls.documents.encoding)
        tooltip = f"{one.code}: {one.message}"
        hints.append(lsp.InlayHint(lsp.Position(line, character), word, tooltip=tooltip, padding_left=True))
    return hints
