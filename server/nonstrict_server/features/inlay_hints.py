"""Words behind what a trace freezes, what breaks a graph or is compiled again, and calls that lead to other files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict.report.regions import breaking
from nonstrict.report.sightings import compared
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES
from nonstrict_server.features.references import locations
from nonstrict_server.positions import places_of
from nonstrict_server.regions import Reach, breaks_in, finding_of, located, rank

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server
    from nonstrict_server.settings import ClientSettings


def register(server: Server) -> None:
    """Answer requests for hints."""
    server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT, lsp.InlayHintOptions(resolve_provider=False))(inlay_hints)


async def inlay_hints(ls: Server, params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
    """The hints of a range."""
    uri = params.text_document.uri
    place = ls.documents.place_of(uri)
    settings = ls.settings_of(place.path)
    if not settings.inlay_hints and not settings.break_hints:
        return []
    version = ls.documents.version_of(uri)
    rows = (params.range.start.line + 1, params.range.end.line + 1)
    return await ls.scheduler.ask(
        lambda: _hints(ls, place, rows, settings), lambda: ls.documents.version_of(uri) != version
    )


class _Hint(NamedTuple):
    """A word behind a place, and where it leads: nowhere, or to one place."""

    where: Location
    word: str
    tooltip: str
    targets: tuple[Location, ...] = ()


def _hints(ls: Server, place: Place, rows: tuple[int, int], settings: ClientSettings) -> list[lsp.InlayHint]:
    """In the thread of the analysis."""
    source = ls.engine.source(place.path)
    found = [
        *((*_frozen(ls, place), *_elsewhere(ls, place)) if settings.inlay_hints else ()),
        *((*_breaks(ls, place), *_observed(ls, place)) if settings.break_hints else ()),
    ]
    hints: list[lsp.InlayHint] = []
    for one in found:
        if one.where.cell == place.cell and rows[0] <= one.where.end_row <= rows[1]:
            _, _, line, character = places_of(one.where, source, ls.documents.encoding)
            position = lsp.Position(line, character)
            parts = [lsp.InlayHintLabelPart(one.word, location=place) for place in locations(ls, one.targets)]
            hints.append(lsp.InlayHint(position, parts or one.word, tooltip=one.tooltip, padding_left=True))
    return hints


def _frozen(ls: Server, place: Place) -> Iterator[_Hint]:
    for one in ls.engine.diagnostics(place.path):
        rule = RULES.get(one.code)
        if rule is not None and rule.hint:
            yield _Hint(one.location, rule.hint, f"{one.code}: {one.message}")


def _elsewhere(ls: Server, place: Place) -> Iterator[_Hint]:
    """Behind calls that lead to what is found in another file: `NST101 in helpers.py`."""
    found: dict[Location, dict[Diagnostic, None]] = {}
    reach = Reach(ls.engine)
    for one in reach.of(place.path):
        way = [link.location for link in one.related[1 : one.links] if link.location.path == place.path]
        if way and one.location.path != place.path:
            found.setdefault(way[-1], {})[one] = None
    for view in reach.views(place.path):
        for called in view.called:
            where = located(ls.engine, called.callee.span)
            if where is not None and where.path == place.path != called.callee.mark.path:
                found.setdefault(where, {}).update(dict.fromkeys(called.findings))
    for where, known in found.items():
        told = sorted(known, key=rank)
        if told:
            codes = ", ".join(dict.fromkeys(one.code for one in told))
            names = ", ".join(dict.fromkeys(os.path.basename(one.location.path) for one in told))
            tooltip = "\n".join(dict.fromkeys(f"{one.code}: {one.message}" for one in told))
            yield _Hint(where, f"{codes} in {names}", tooltip, (told[0].location,))


def _breaks(ls: Server, place: Place) -> Iterator[_Hint]:
    """`graph break 1/3`; where several regions break, the first one counts, and all are named in the tooltip.

    What is compiled at several places is named once.
    """
    words: dict[Location, str] = {}
    told: dict[Location, dict[str, None]] = {}
    for view, number, broken in breaks_in(ls.engine, place.path):
        where = located(ls.engine, broken.span)
        if where is not None:
            count = f"{number}/{len(view.region.breaks)}"
            finding = finding_of(ls.engine, view, broken)
            seen = f" ({compared(finding)})" if finding is not None and finding.sighting is not None else ""
            words.setdefault(where, f"graph break {count}")
            told.setdefault(where, {})[f"{count} of `{view.region.function}`: {breaking(broken)}{seen}"] = None
    for where, word in words.items():
        yield _Hint(where, word, "\n".join(told[where]))


def _observed(ls: Server, place: Place) -> Iterator[_Hint]:
    """What a run did: `recompiled 6 times`, predicted or not, and breaks that nothing predicts."""
    for one in ls.engine.diagnostics(place.path):
        rule, sighting = RULES.get(one.code), one.sighting
        if rule is None or sighting is None or sighting.passed or sighting.stale:
            continue
        told = f"{compared(one)}: {sighting.reason}" if one.observed else compared(one)
        if sighting.recompilations:
            yield _Hint(one.location, _again(sighting.recompilations), told)
        elif rule.experiment is Experiment.BREAK and one.observed:
            yield _Hint(one.location, "graph break (observed)", told)


def _again(times: int) -> str:
    return "recompiled once" if times == 1 else f"recompiled {times:,} times"
