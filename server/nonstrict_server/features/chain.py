"""The way from a compiled region to what a finding is about, place by place: request `nonstrict/chain`.

What related places of a diagnostic say in a list, for clients that draw it: regions, the marker, the calls, the
offending expression, and the places that are evidence for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from nonstrict_server.features.references import finding_at
from nonstrict_server.parameters import address_of, field_of, position_of
from nonstrict_server.positions import places_of
from nonstrict_server.regions import located, regions_calling

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lsprotocol import types as lsp

    from nonstrict.findings import Diagnostic, Location, Span
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

METHOD = "nonstrict/chain"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(chain)


async def chain(ls: Server, params: Any) -> dict[str, Any] | None:
    """The chain of the finding at a `position` of the document `uri`: its `code`, `message`, `verdict`, and `steps`.

    A step has a `kind` (`region`, `entry`: its call of the marked function, `marker`, `call`, `effect`, `evidence`), a
    `text` that says what happens there, the line of `code` as it is written, and the `uri` and `range`. Null where
    there is no finding of a marked function.

    Raises:
        InvalidParamsError: the parameters are others.
    """
    place = ls.documents.place_of(address_of(params))
    position = position_of(field_of(params, "position"))
    return await ls.scheduler.ask(lambda: _chain(ls, place, position))


def _chain(ls: Server, place: Place, position: lsp.Position) -> dict[str, Any] | None:
    """In the thread of the analysis."""
    finding = finding_at(ls, place, position)
    if finding is None:
        return None
    links, evidence = finding.related[: finding.links], finding.related[finding.links :]
    steps = list(_regions(ls, finding))
    steps += [
        _step(ls, "call" if number else "marker", one.message.removesuffix(" here"), one.location)
        for number, one in enumerate(links)
    ]
    steps.append(_step(ls, "effect", finding.message, finding.location))
    steps += [_step(ls, "evidence", one.message.removesuffix(" here"), one.location) for one in evidence]
    return {
        "code": finding.code,
        "name": finding.name,
        "function": finding.function,
        "severity": finding.severity.label,
        "verdict": finding.verdict.status.value if finding.verdict is not None else None,
        "steps": steps,
    }


def _regions(ls: Server, finding: Diagnostic) -> Iterator[dict[str, Any]]:
    """Where the regions that call the marked function are compiled, each with its calls; of a region itself, none."""
    compiled: set[tuple[str, Span]] = set()
    for region, callee in regions_calling(ls.engine, finding):
        place, call = located(ls.engine, region.span), located(ls.engine, callee.span)
        if place is not None and (region.function, region.span) not in compiled:
            compiled.add((region.function, region.span))
            yield _step(ls, "region", f"`{region.function}` is compiled", place)
        if call is not None:
            yield _step(ls, "entry", f"`{region.function}` calls `{finding.function}`", call)


def _step(ls: Server, kind: str, text: str, where: Location) -> dict[str, Any]:
    source = ls.engine.source(where.path)
    line, character, end_line, end_character = places_of(where, source, ls.documents.encoding)
    return {
        "kind": kind,
        "text": text,
        "code": source.line_text(where.row, where.cell).strip() if source is not None else "",
        "name": os.path.basename(where.path),
        "uri": ls.documents.uri_of(where.path, where.cell),
        "range": {
            "start": {"line": line, "character": character},
            "end": {"line": end_line, "character": end_character},
        },
    }
