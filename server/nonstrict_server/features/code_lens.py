"""A line above each marked function and compiled region: what is known of it, listed on click, and how to confirm it.

The line of a region stands above its function, where its graphs are made or broken; where that is in another file, it
stands there as well as above the call that compiles it.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict_server.features.commands import CANCEL, CONFIRM_FUNCTION, SHOW_FINDINGS, SHOW_RUN
from nonstrict_server.features.traced_runs import CANCEL_TRACE, TRACE
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.recording import Traced
from nonstrict_server.regions import Reach, by_place, located, undecided
from nonstrict_server.runnable import runnables
from nonstrict_server.summaries import lens_title, region_title, run_title, running_title

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Diagnostic, Location
    from nonstrict.text.source import Source
    from nonstrict_server.confirming import Running
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server


class _Line(NamedTuple):
    """What is said above a line of a document: of the function of the file `path`, of which `found` is known."""

    where: Location
    path: str
    function: str
    title: str
    found: tuple[Diagnostic, ...]
    #: what a real run made of it
    ran: str = ""


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
    """In the thread of the analysis: one for each function and line, and one more to confirm what is found."""
    source = ls.engine.source(place.path)
    reach = Reach(ls.engine)
    regions = list(_of_regions(ls, reach, place, source))
    lenses: dict[tuple[str, int], list[lsp.CodeLens]] = {}
    for line in (*regions, *_of_marks(ls, reach, place, source, {line.function for line in regions})):
        if line.where.cell == place.cell:
            row = places_of(line.where, source, ls.documents.encoding)[0]
            range_ = range_of((row, 0, row, 0))
            address = uri if line.path == place.path else ls.documents.uri_of(line.path)
            commands = _commands(ls, address, line)
            lenses.setdefault((line.function, row), [lsp.CodeLens(range_, command) for command in commands])
    traced = _traces(ls, uri, place, source)
    return sorted(chain(chain.from_iterable(lenses.values()), traced), key=lambda lens: lens.range.start.line)


def _of_regions(ls: Server, reach: Reach, place: Place, source: Source | None) -> Iterator[_Line]:
    for (function, where), view in by_place(ls.engine, reach.views(place.path), place.path).items():
        call = located(ls.engine, view.region.span)
        at = _above(where, call, source) if call is not None else where
        yield _Line(at, view.region.span.path, function, region_title(view), view.reached, run_title(view))


def _of_marks(ls: Server, reach: Reach, place: Place, source: Source | None, regions: set[str]) -> Iterator[_Line]:
    """Those of marked functions, and of what is compiled and no region is known of."""
    marks = [one for one in ls.engine.marks(place.path) if one.kind != "compiled" or one.function not in regions]
    for mark in marks:
        found = reach.of(place.path, mark.function)
        where = _above(mark.definition or mark.location, mark.location, source)
        yield _Line(where, place.path, mark.function, lens_title(found), found)


def _above(definition: Location, marker: Location, source: Source | None) -> Location:
    """Where the lens stands: above the function and a marker that decorates it."""
    elsewhere = (marker.path, marker.cell) != (definition.path, definition.cell)
    if source is None or elsewhere or marker.row >= definition.row:
        return definition
    return marker if source.line_text(marker.row, marker.cell).lstrip().startswith("@") else definition


def _commands(ls: Server, address: str, line: _Line) -> Iterator[lsp.Command]:
    """The first lists what is found, another what a run did, the last confirms, or says how far that is and stops it.

    What has a verdict is not confirmed again: the verdict holds until the code changes.
    """
    arguments = [address, line.function]
    # A lens without a command is one that is still to be resolved; one without a name cannot be clicked.
    yield lsp.Command(line.title, SHOW_FINDINGS, arguments=arguments) if line.found else lsp.Command(line.title, "")
    if line.ran:
        yield lsp.Command(line.ran, SHOW_RUN, arguments=arguments)
    running = _running(ls, line.path, line.function)
    if line.found and running is not None:
        yield lsp.Command(running_title(running), CANCEL, arguments=[address])
    elif undecided(line.found) and not ls.confirmers.hindrance(line.path):
        yield lsp.Command("confirm", CONFIRM_FUNCTION, arguments=arguments)


def _traces(ls: Server, uri: str, place: Place, source: Source | None) -> Iterator[lsp.CodeLens]:
    """Above tests and the code of scripts: runs them with recording, where they may be run."""
    if ls.recorder.hindrance(place.path):
        return
    for one in runnables(ls.engine, place.path):
        row = places_of(one.where, source, ls.documents.encoding)[0]
        is_running = ls.recorder.running == Traced(place.path, one.selector)
        title, command = ("tracing (cancel)", CANCEL_TRACE) if is_running else ("trace", TRACE)
        yield lsp.CodeLens(range_of((row, 0, row, 0)), lsp.Command(title, command, arguments=[uri, one.selector]))


def _running(ls: Server, path: str, function: str) -> Running | None:
    """How far the experiments that may be about a function are."""
    running = ls.confirmers.running.get(path)
    return running if running is not None and running.function in {"", function} else None
