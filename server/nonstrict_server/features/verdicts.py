"""The verdicts of a document, for clients that draw them beside the code: request `nonstrict/verdicts`.

Such clients say so by the experimental capability `nonstrictVerdicts`: they are told by `nonstrict/verdictsChanged`
when there may be others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.report.verdicts import brief
from nonstrict_server.features.region_map import range_at
from nonstrict_server.parameters import address_of

if TYPE_CHECKING:
    from nonstrict_server.documents import Place
    from nonstrict_server.engine import Judged
    from nonstrict_server.server import Server

METHOD = "nonstrict/verdicts"
CHANGED = "nonstrict/verdictsChanged"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(verdicts)


async def verdicts(ls: Server, params: Any) -> list[dict[str, Any]]:
    """The verdicts of the findings in the document `uri`, in their order.

    Each has the `range` and the `code` of its finding, the `status` (`confirmed`, `refuted`, `inconclusive`) and a
    `text`: what was seen, in one line. It is `stale` where it was one of an earlier text of the code: the diagnostic
    does not tell it then.

    Raises:
        InvalidParamsError: `uri` is no address.
    """
    uri = address_of(params)
    place, version = ls.documents.place_of(uri), ls.documents.version_of(uri)
    return await ls.scheduler.ask(lambda: _verdicts(ls, place), lambda: ls.documents.version_of(uri) != version)


def _verdicts(ls: Server, place: Place) -> list[dict[str, Any]]:
    """In the thread of the analysis."""
    return [_told(ls, one) for one in ls.engine.verdicts(place.path) if one.finding.location.cell == place.cell]


def _told(ls: Server, one: Judged) -> dict[str, Any]:
    return {
        "range": range_at(ls, one.finding.location),
        "code": one.finding.code,
        "status": one.verdict.status.value,
        "text": brief(one.verdict),
        "stale": one.stale,
    }
