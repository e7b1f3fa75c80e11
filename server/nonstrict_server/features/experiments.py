"""Marked functions and regions as tests: requests `nonstrict/tests` for the list, `nonstrict/test` to run one.

A test fails if a finding is confirmed, passes if all are refuted, and is skipped if something could not be decided. A
function without findings is asked whether it computes the same when it is compiled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.findings import UNEXPLAINED, Status
from nonstrict.report.verdicts import brief, sentence
from nonstrict_server.features.region_map import range_at
from nonstrict_server.parameters import address_of, field_of
from nonstrict_server.protocol import InvalidParamsError
from nonstrict_server.regions import located, views
from nonstrict_server.summaries import placed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.server import Server

TESTS, TEST = "nonstrict/tests", "nonstrict/test"
#: Why nothing was decided where no verdict says so.
_NOTHING = "no experiment can tell of it, or there is no such function"
_ENDED = "the code was edited meanwhile, or experiments were ended"


def register(server: Server) -> None:
    """Answer the requests."""
    server.feature(TESTS)(tests)
    server.feature(TEST)(test)


async def tests(ls: Server, _: Any) -> list[dict[str, Any]]:
    """The functions of the workspace that can be tried, by file and line.

    Each has a `function`, the `uri` and the `range` where it stands, the `address` of the document in which it is made
    one, by which it is tried, and a `detail`: what makes it one. There are none where no experiments may be run.
    """
    return await ls.scheduler.ask(lambda: list(_tests(ls)))


async def test(ls: Server, params: Any) -> dict[str, Any]:
    """Try the `function` of the document `uri` and wait for the end.

    The `outcome` is `passed`, `failed` or `skipped`. `findings` are texts about what was confirmed, with its place;
    `reasons` say why nothing was decided of others.

    Raises:
        InvalidParamsError: `uri` or `function` is missing.
        RequestFailedError: no experiments may be run.
    """
    function = field_of(params, "function")
    if not isinstance(function, str) or not function:
        raise InvalidParamsError("`function` has to be the name of a function")
    found = await ls.confirmers.tried(ls.documents.place_of(address_of(params)).path, function)
    return _result(found)


def _tests(ls: Server) -> Iterator[dict[str, Any]]:
    """In the thread of the analysis."""
    known: dict[tuple[str, str], tuple[Location, str]] = {}
    for view in views(ls.engine):
        where = located(ls.engine, view.region.defined or view.region.span)
        if where is not None and view.region.function and not view.region.missed:
            known.setdefault((view.region.span.path, view.region.function), (where, "compiled"))
    compiled = {(where.path, function) for (_, function), (where, _) in known.items()} | known.keys()
    for path in ls.engine.marked_files():
        for mark in ls.engine.marks(path):
            if (path, mark.function) not in compiled:
                known.setdefault((path, mark.function), (mark.definition or mark.location, mark.api))
    for (path, function), (where, detail) in sorted(known.items(), key=lambda one: one[1][0]):
        if not ls.confirmers.hindrance(path):
            address, place = ls.documents.uri_of(path), ls.documents.uri_of(where.path, where.cell)
            told = {"function": function, "detail": detail, "address": address, "uri": place}
            yield {**told, "range": range_at(ls, where)}


def _result(found: Sequence[Diagnostic]) -> dict[str, Any]:
    by_status = {status: [one for one in found if _status(one) is status] for status in (*Status, None)}
    if by_status[Status.CONFIRMED]:
        outcome = "failed"
    elif by_status[Status.INCONCLUSIVE] or by_status[None] or not found:
        outcome = "skipped"
    else:
        outcome = "passed"
    undecided = (one.verdict for one in by_status[Status.INCONCLUSIVE])
    reasons = dict.fromkeys(brief(verdict) for verdict in undecided if verdict is not None)
    if not found:
        reasons[_NOTHING] = None
    elif by_status[None]:
        reasons[_ENDED] = None
    return {
        "outcome": outcome,
        "findings": [_finding(one) for one in by_status[Status.CONFIRMED]],
        "reasons": list(reasons),
    }


def _finding(one: Diagnostic) -> str:
    """`model.py:8: NST104: ...`, and below it what was seen."""
    told = sentence(one.verdict, one.function) if one.verdict is not None else ""
    if one.code == UNEXPLAINED:
        from nonstrict.check.experiments import unexplained_divergence

        one = unexplained_divergence(one)
    return f"{placed(one.location)}: {one.code}: {one.message}\n{told}"


def _status(one: Diagnostic) -> Status | None:
    return one.verdict.status if one.verdict is not None else None
