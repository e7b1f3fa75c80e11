"""What is compiled in the workspace, as a tree: request `nonstrict/regions`.

A region leads to its graphs, a graph to the marked functions that are called in it and to the break that ends it.
Clients that show the tree say so by the experimental capability `nonstrictRegions`: they are told by
`nonstrict/regionsChanged` when it may be another.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nonstrict.report.regions import described
from nonstrict_server.positions import places_of
from nonstrict_server.regions import finding_of, located, state_of, views

if TYPE_CHECKING:
    from nonstrict.coverage import Part
    from nonstrict.findings import Span
    from nonstrict_server.regions import Called, View
    from nonstrict_server.server import Server

METHOD = "nonstrict/regions"
CHANGED = "nonstrict/regionsChanged"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(regions)


async def regions(ls: Server, _: Any) -> list[dict[str, Any]]:
    """The regions of the workspace, by file and line.

    Each node has a `kind` (`region`, `missed`, `graph`, `break`, `eager`, `marked`), a `text`, a `detail`, the `worst`
    of what is found there (a verdict or a severity, "" for nothing), the `name` of its file, the `uri` and `range` that
    it stands for, and `children`. A region whose findings can be confirmed also has `confirm`: the arguments of
    `nonstrict.confirmFunction`.
    """
    return await ls.scheduler.ask(lambda: [_region(ls, view) for view in views(ls.engine)])


def _region(ls: Server, view: View) -> dict[str, Any]:
    region = view.region
    if region.missed:
        return _node(ls, "missed", view.figures[0], region.missed, region.span)
    state = state_of(view.reached)
    detail = " · ".join(filter(None, (*view.figures, state.text)))
    node = _node(ls, "region", region.function, detail, region.defined or region.span, state.worst)
    node["children"] = _parts(ls, view)
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
            node = _node(ls, part.kind, f"graph {graphs}", _told(part), part.span)
            node["children"] = [_marked(ls, one) for one in inside]
            level.append(node)
        else:
            node = _break(ls, view, part)
            (level[-1]["children"] if level and level[-1]["kind"] == "graph" else level).append(node)
            levels[part.depth + 1] = node["children"]
    return [*top, *(_marked(ls, one) for one in left)]


def _break(ls: Server, view: View, part: Part) -> dict[str, Any]:
    """Where a graph ends, with what is found there."""
    found = (finding_of(ls.engine, view, broken) for broken in view.region.breaks if broken.span == part.span)
    state = state_of([one for one in found if one is not None])
    words = "graph break" if part.kind == "break" else "plain Python"
    return _node(ls, part.kind, words, _told(part, state.text), part.span, state.worst)


def _marked(ls: Server, called: Called) -> dict[str, Any]:
    """The call of a marked function."""
    state = state_of(called.findings)
    return _node(ls, "marked", called.callee.function, state.text, called.callee.span, state.worst)


def _told(part: Part, state: str = "") -> str:
    return " · ".join(filter(None, (described(part), state)))


def _is_within(inner: Span, outer: Span) -> bool:
    return inner.path == outer.path and outer.line <= inner.line <= inner.end_line <= outer.end_line


def _node(ls: Server, kind: str, text: str, detail: str, span: Span, worst: str = "") -> dict[str, Any]:
    where = located(ls.engine, span)
    line, character, end_line, end_character = (
        places_of(where, ls.engine.source(span.path), ls.documents.encoding) if where is not None else (0, 0, 0, 0)
    )
    return {
        "kind": kind,
        "text": text,
        "detail": detail,
        "worst": worst,
        "name": os.path.basename(span.path),
        "uri": ls.documents.uri_of(span.path, where.cell if where is not None else None),
        "range": {
            "start": {"line": line, "character": character},
            "end": {"line": end_line, "character": end_character},
        },
        "children": [],
    }
