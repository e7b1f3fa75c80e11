"""What is compiled in the workspace, as a tree: request `nonstrict/regions`.

A region leads to its graphs, to what it is compiled again for and to what is found in it; a graph to the break that
ends it and to the marked functions that are called in it, and these to what is found in them.
Clients that show the tree say so by the experimental capability `nonstrictRegions`: they are told by
`nonstrict/regionsChanged` when it may be another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nonstrict.findings import Location
from nonstrict.report.regions import described
from nonstrict_server.positions import places_of
from nonstrict_server.regions import finding_of, found_at, kinds_of, located, state_of, views

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.coverage import Part
    from nonstrict.findings import Diagnostic, Span
    from nonstrict_server.regions import Called, View
    from nonstrict_server.server import Server

METHOD = "nonstrict/regions"
CHANGED = "nonstrict/regionsChanged"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(regions)


async def regions(ls: Server, _: Any) -> list[dict[str, Any]]:
    """The regions of the workspace, by file and line.

    Each node has a `kind` (`region`, `missed`, `graph`, `break`, `eager`, `marked`, `varying`, `finding`), a `text`, a
    `detail`, the `worst` of what is found there (a verdict or a severity, "" for nothing), the `name` of its file, the
    `uri` and `range` that it stands for, and `children`. It `is` `confirmed` where an experiment confirmed what is
    found there, and `observed` where a real run did it. A region whose findings can be confirmed also has `confirm`:
    the arguments of `nonstrict.confirmFunction`.
    """
    return await ls.scheduler.ask(lambda: [_region(ls, view) for view in views(ls.engine)])


def finding_node(ls: Server, finding: Diagnostic) -> dict[str, Any]:
    """A finding with its verdict as a node without children; in the thread of the analysis."""
    told = (finding.message, finding.verdict.status.value if finding.verdict is not None else "")
    detail = " · ".join(filter(None, told))
    return _node(ls, "finding", finding.code, detail, finding.location, (finding,))


def range_at(ls: Server, where: Location | None) -> dict[str, Any]:
    """A place as clients count, the beginning of a document if it is not known; in the thread of the analysis."""
    line, character, end_line, end_character = (
        places_of(where, ls.engine.source(where.path), ls.documents.encoding) if where is not None else (0, 0, 0, 0)
    )
    return {
        "start": {"line": line, "character": character},
        "end": {"line": end_line, "character": end_character},
    }


def _region(ls: Server, view: View) -> dict[str, Any]:
    region = view.region
    if region.missed:
        return _node(ls, "missed", view.figures[0], region.missed, region.span)
    detail = " · ".join(filter(None, (*view.figures, state_of(view.reached).text)))
    node = _node(ls, "region", region.function, detail, region.defined or region.span, view.reached)
    node["children"] = [*_parts(ls, view), *_varying(ls, view), *_others(ls, view)]
    if view.ran is not None and "observed" not in node["is"]:
        node["is"].append("observed")
    if view.reached and not ls.confirmers.hindrance(region.span.path):
        node["confirm"] = [ls.documents.uri_of(region.span.path), region.function]
    return node


def _parts(ls: Server, view: View) -> list[dict[str, Any]]:
    """Graphs; below each the marked functions that are called in it, and the break that ends it.

    What a break consists of, where a function that is called breaks, is below it.
    """
    top: list[dict[str, Any]] = []
    levels = {0: top}
    left = list(view.called)
    graphs = 0
    for part in view.region.parts:
        level = levels.get(part.depth, top)
        if part.kind == "graph":
            graphs += 1
            inside = [one for one in left if _is_within(one.callee.span, part.span)]
            left = [one for one in left if one not in inside]
            node = _node(ls, part.kind, f"graph {graphs}", described(part), part.span)
            node["children"] = [_marked(ls, one) for one in inside]
            level.append(node)
        else:
            node = _break(ls, view, part)
            (level[-1]["children"] if level and level[-1]["kind"] == "graph" else level).append(node)
            levels[part.depth + 1] = node["children"]
    return [*top, *(_marked(ls, one) for one in left)]


def _break(ls: Server, view: View, part: Part) -> dict[str, Any]:
    """Where a graph ends, with what is found there."""
    told = (finding_of(ls.engine, view, broken) for broken in view.region.breaks if broken.span == part.span)
    found = [one for one in told if one is not None]
    words = "graph break" if part.kind == "break" else "plain Python"
    detail = " · ".join(filter(None, (described(part), state_of(found).text)))
    return _node(ls, part.kind, words, detail, part.span, found)


def _varying(ls: Server, view: View) -> list[dict[str, Any]]:
    """What the region is compiled again for, with what is found there."""
    return [
        _node(ls, "varying", "compiled again for", one.message, one.span, found_at(ls.engine, view, one.span))
        for one in view.region.varying
    ]


def _others(ls: Server, view: View) -> list[dict[str, Any]]:
    """What is found in the region itself and told at none of its breaks and varying values."""
    places = [*(one.span for one in view.region.breaks), *(one.span for one in view.region.varying)]
    told = {one for place in places for one in found_at(ls.engine, view, place)}
    return [finding_node(ls, one) for one in view.findings if one not in told]


def _marked(ls: Server, called: Called) -> dict[str, Any]:
    """The call of a marked function, with what is found in it."""
    state = state_of(called.findings)
    node = _node(ls, "marked", called.callee.function, state.text, called.callee.span, called.findings)
    node["children"] = [finding_node(ls, one) for one in called.findings]
    return node


def _is_within(inner: Span, outer: Span) -> bool:
    return inner.path == outer.path and outer.line <= inner.line <= inner.end_line <= outer.end_line


def _node(
    ls: Server, kind: str, text: str, detail: str, at: Span | Location, found: Sequence[Diagnostic] = ()
) -> dict[str, Any]:
    where = at if isinstance(at, Location) else located(ls.engine, at)
    return {
        "kind": kind,
        "text": text,
        "detail": detail,
        "worst": state_of(found).worst,
        "is": kinds_of(found),
        "name": os.path.basename(at.path),
        "uri": ls.documents.uri_of(at.path, where.cell if where is not None else None),
        "range": range_at(ls, where),
        "children": [],
    }
