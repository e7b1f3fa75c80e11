"""From what a finding is about up to the compiled region: the functions whose calls lead there, caller by caller.

Only at findings: everywhere else the call hierarchy is the business of others.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lsprotocol import types as lsp

from nonstrict_server.features.references import finding_at
from nonstrict_server.functions import enclosing
from nonstrict_server.positions import places_of, range_of
from nonstrict_server.protocol import InvalidParamsError
from nonstrict_server.regions import located, regions_calling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.server import Server


class _Level(NamedTuple):
    """A function on the way to a finding, by a place in it: where it does what it is listed for."""

    at: Location
    #: What is said of it beside its name.
    detail: str
    #: What leads to it: -1 for the regions that are compiled themselves.
    above: int


class _Told(NamedTuple):
    """What an item is made of, as clients hand it back."""

    path: str
    finding: list[Any]
    above: int


def register(server: Server) -> None:
    """Answer requests for call hierarchies."""
    server.feature(lsp.TEXT_DOCUMENT_PREPARE_CALL_HIERARCHY)(prepare)
    server.feature(lsp.CALL_HIERARCHY_INCOMING_CALLS)(incoming)
    server.feature(lsp.CALL_HIERARCHY_OUTGOING_CALLS)(outgoing)


async def prepare(ls: Server, params: lsp.CallHierarchyPrepareParams) -> list[lsp.CallHierarchyItem]:
    """The function in which the finding at a position is; nothing elsewhere."""
    place = ls.documents.place_of(params.text_document.uri)
    return await ls.scheduler.ask(lambda: _prepared(ls, finding_at(ls, place, params.position)))


async def incoming(ls: Server, params: lsp.CallHierarchyIncomingCallsParams) -> list[lsp.CallHierarchyIncomingCall]:
    """The functions from which the calls lead to one: of the marked function, the compiled regions that call it."""
    told = _told(params.item.data)
    return await ls.scheduler.ask(lambda: list(_incoming(ls, told)))


async def outgoing(ls: Server, params: lsp.CallHierarchyOutgoingCallsParams) -> list[lsp.CallHierarchyOutgoingCall]:
    """Nothing: what a function calls besides has nothing to do with the finding."""
    return []


# -- in the thread of the analysis ------------------------------------------------------------------------------------


def _prepared(ls: Server, finding: Diagnostic | None) -> list[lsp.CallHierarchyItem]:
    if finding is None:
        return []
    level = _Level(finding.location, f"{finding.code}: {finding.message}", len(_calls(finding)))
    return [_item(ls, finding, level)]


def _incoming(ls: Server, told: _Told) -> Iterator[lsp.CallHierarchyIncomingCall]:
    finding = _finding(ls, told)
    above = min(told.above, len(_calls(finding))) if finding is not None else -1
    if finding is None or above < 0:
        return
    if above:
        at = _calls(finding)[above - 1]
        yield _call(ls, finding, _Level(at, os.path.basename(at.path), above - 1))
        return
    for region, callee in regions_calling(ls.engine, finding):
        at = located(ls.engine, callee.span)
        if at is not None:
            yield _call(ls, finding, _Level(at, f"compiled region, {os.path.basename(region.span.path)}", -1))


def _calls(finding: Diagnostic) -> list[Location]:
    """The calls from the marked function to what is found, the outermost first: the first link is the marker."""
    return [one.location for one in finding.related[1 : finding.links]]


def _call(ls: Server, finding: Diagnostic, level: _Level) -> lsp.CallHierarchyIncomingCall:
    source = ls.engine.source(level.at.path)
    ranges = [range_of(places_of(level.at, source, ls.documents.encoding))]
    return lsp.CallHierarchyIncomingCall(_item(ls, finding, level), ranges)


def _item(ls: Server, finding: Diagnostic, level: _Level) -> lsp.CallHierarchyItem:
    source = ls.engine.source(level.at.path)
    around = enclosing(source, level.at) if source is not None else None
    name, where = around or (os.path.basename(level.at.path), level.at)
    range_ = range_of(places_of(where, source, ls.documents.encoding))
    return lsp.CallHierarchyItem(
        name=name,
        kind=lsp.SymbolKind.Function if around is not None else lsp.SymbolKind.Module,
        uri=ls.documents.uri_of(level.at.path, level.at.cell),
        range=range_,
        selection_range=lsp.Range(range_.start, range_.start),
        detail=level.detail,
        data={"finding": [finding.code, finding.function, list(finding.location)], "above": level.above},
    )


def _finding(ls: Server, told: _Told) -> Diagnostic | None:
    """The finding that an item was made of; None if it is no longer there."""
    known = ls.engine.diagnostics(told.path)
    return next((one for one in known if [one.code, one.function, list(one.location)] == told.finding), None)


def _told(data: object) -> _Told:
    """What an item says that the client hands back.

    Raises:
        InvalidParamsError: it is not ours.
    """
    try:
        mine = cast("dict[str, Any]", data)
        finding, above = list(mine["finding"]), int(mine["above"])
        return _Told(str(finding[2][0]), finding, above)
    except (AttributeError, KeyError, IndexError, TypeError, ValueError):
        raise InvalidParamsError("the item is not one of a finding") from None
