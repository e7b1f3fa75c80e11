"""What is known of a compiled region, as a page in Markdown: graphs, breaks, what it calls, what nobody looked into."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.report import sightings
from nonstrict.report.regions import breaking
from nonstrict.rules.base import DOCUMENTATION_URL
from nonstrict_server.conversion import verdict_line
from nonstrict_server.regions import finding_of, located, state_of
from nonstrict_server.summaries import placed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.coverage import Callee
    from nonstrict.findings import Diagnostic, Location, Related, Span
    from nonstrict_server.regions import View
    from nonstrict_server.server import Server

REGIONS_URL = f"{DOCUMENTATION_URL}regions.md"
#: So many places of a kind are listed, the rest is counted.
_LISTED = 8


def page(ls: Server, view: View) -> str:
    """The page of a region; in the thread of the analysis."""
    return "\n".join((*_lines(ls, view), "", f"[What the tool sees of your `torch.compile`]({REGIONS_URL})"))


def _lines(ls: Server, view: View) -> Iterator[str]:
    region = view.region
    if region.missed:
        yield f"**Not analyzed**: {region.missed}"
        return
    known = " · ".join((*view.figures, *filter(None, (state_of(view.reached).text,))))
    yield f"**`{region.function}`**, compiled at {_link(ls, region.span)}: {known}"
    yield from ("", sightings.ran(view.ran[1], view.ran[0])) if view.ran is not None else ()
    told = [finding_of(ls.engine, view, broken) for broken in region.breaks]
    yield from ("", "Graph breaks:", "") if region.breaks else ()
    for number, (broken, finding) in enumerate(zip(region.breaks, told, strict=True), 1):
        yield f"{number}. {_link(ls, broken.span)}: {breaking(broken)}"
        yield from _evidence(finding)
    others = [one for one in view.findings if one not in told]
    yield from ("", "Findings:", "") if others else ()
    for one in others:
        yield f"- `{one.code}` {_address(ls, one.location)}: {one.message}"
        yield from _evidence(one)
    yield from _listed(ls, "Marked functions that it calls", region.marked, [one.findings for one in view.called])
    yield from _listed(ls, "Not analyzed", region.unseen)
    yield from _listed(ls, "Called at", region.callers)


def _evidence(finding: Diagnostic | None) -> Iterator[str]:
    """What an experiment said and what a run did."""
    if finding is not None and finding.verdict is not None:
        yield f"   - {verdict_line(finding.verdict, finding.function)}"
    if finding is not None and finding.sighting is not None:
        yield f"   - {sightings.compared(finding)}"


def _listed(
    ls: Server, heading: str, places: Sequence[Related | Callee], found: Sequence[Sequence[Diagnostic]] = ()
) -> Iterator[str]:
    if not places:
        return
    yield from ("", f"{heading}:", "")
    for number, one in enumerate(places[:_LISTED]):
        state = state_of(found[number]).text if found else ""
        yield f"- {_link(ls, one.span)}: {one.message}{f' ({state})' if state else ''}"
    if len(places) > _LISTED:
        yield f"- and {len(places) - _LISTED} more"


def _link(ls: Server, span: Span) -> str:
    where = located(ls.engine, span)
    return _address(ls, where) if where is not None else os.path.basename(span.path)


def _address(ls: Server, where: Location) -> str:
    """`[layers.py:20](file:///…/layers.py#L20)`."""
    return f"[{placed(where)}]({ls.documents.uri_of(where.path, where.cell)}#L{where.row})"
