"""Marked functions and compiled regions in the outline of a document: where each is, how it is compiled, and to what.

A region stands at its function; where that is in another file, or not known, at the call that compiles it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict_server.functions import Definition, definitions, start_of
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.regions import Reach, by_place
from nonstrict_server.summaries import lens_title, region_title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.findings import Location
    from nonstrict.text.source import Source
    from nonstrict_server.documents import Place
    from nonstrict_server.regions import View
    from nonstrict_server.server import Server

_COMPILE = "torch.compile"


class _Symbol(NamedTuple):
    """A function, or a call that compiles one, and what is said of it."""

    at: Definition
    name: str
    detail: str


def serve(server: Server) -> None:
    """Answer requests for symbols: see `nonstrict_server.features.switched`."""
    server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL, lsp.DocumentSymbolOptions(label="nonstrict"))(document_symbols)


async def document_symbols(
    ls: Server, params: lsp.DocumentSymbolParams
) -> Sequence[lsp.DocumentSymbol] | Sequence[lsp.SymbolInformation]:
    """The symbols of a document, nested as their functions are if the client can show that."""
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    if not ls.settings_of(place.path).symbols:
        return []
    version = ls.documents.version_of(uri)
    found = await ls.scheduler.ask(lambda: _nested(ls, place), lambda: ls.documents.version_of(uri) != version)
    return found if ls.abilities.nests_symbols else list(_flat(uri, found))


# -- in the thread of the analysis ------------------------------------------------------------------------------------


def _nested(ls: Server, place: Place) -> list[lsp.DocumentSymbol]:
    """The symbols of a document, those of functions in functions below these."""
    source = ls.engine.source(place.path)
    if source is None:
        return []
    found = [one for one in _symbols(ls, place.path, source) if one.at.whole.cell == place.cell]
    top: list[lsp.DocumentSymbol] = []
    around: list[tuple[Location, list[lsp.DocumentSymbol]]] = []
    for one in sorted(found, key=lambda one: (_start(one.at.whole), [-part for part in _end(one.at.whole)])):
        while around and _end(around[-1][0]) < _end(one.at.whole):
            around.pop()
        inner: list[lsp.DocumentSymbol] = []
        (around[-1][1] if around else top).append(
            lsp.DocumentSymbol(
                one.name,
                lsp.SymbolKind.Method if one.at.is_method else lsp.SymbolKind.Function,
                range_of(places_of(one.at.whole, source, ls.documents.encoding)),
                range_of(places_of(one.at.name, source, ls.documents.encoding)),
                detail=one.detail,
                children=inner,
            )
        )
        around.append((one.at.whole, inner))
    return top


def _symbols(ls: Server, path: str, source: Source) -> Iterator[_Symbol]:
    """One for each function: of what is compiled and marked, what is said of the region."""
    reach, marks = Reach(ls.engine), ls.engine.marks(path)
    views = by_place(ls.engine, reach.views(path), path)
    places = (*(where for _, where in views), *(mark.definition for mark in marks if mark.definition is not None))
    known = definitions(source, {start_of(where) for where in places})

    def at(where: Location) -> Definition:
        return known.get(start_of(where)) or Definition(where, where)

    told: set[tuple[str, Location]] = set()
    spelled = {mark.function: mark.api for mark in marks if mark.kind == "compiled"}
    for (function, where), view in views.items():
        told.add((function, at(where).whole))
        yield _Symbol(at(where), *_of_region(view, spelled.get(function, _COMPILE)))
    regions = {function for function, _ in views}
    for mark in marks:
        where = at(mark.definition or mark.location)
        if (mark.function, where.whole) not in told and (mark.kind != "compiled" or mark.function not in regions):
            told.add((mark.function, where.whole))
            yield _Symbol(where, mark.function, f"{mark.api} · {lens_title(reach.of(path, mark.function))}")


def _of_region(view: View, api: str) -> tuple[str, str]:
    """The name and the detail of a region."""
    if view.region.missed:
        return view.figures[0], f"{api} · {view.region.missed}"
    return view.region.function, f"{api} · {region_title(view)}"


def _start(where: Location) -> tuple[int, int]:
    return where.row, where.column


def _end(where: Location) -> tuple[int, int]:
    return where.end_row, where.end_column


# -- for clients that show a list -------------------------------------------------------------------------------------


def _flat(uri: str, symbols: Iterable[lsp.DocumentSymbol], above: str | None = None) -> Iterator[lsp.SymbolInformation]:
    for one in symbols:
        yield lsp.SymbolInformation(lsp.Location(uri, one.range), one.name, one.kind, container_name=above)
        yield from _flat(uri, one.children or (), one.name)
