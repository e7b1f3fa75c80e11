"""The way from a compiled region to what a finding is about, place by place: request `nonstrict/chain`.

What related places of a diagnostic say in a list, for clients that draw it: regions, the marker, the calls, the
offending expression, and the places that are evidence for it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from nonstrict_server.features.references import finding_at
from nonstrict_server.positions import places_of

if TYPE_CHECKING:
    from nonstrict.findings import Diagnostic, Location
    from nonstrict_server.documents import Place
    from nonstrict_server.server import Server

METHOD = "nonstrict/chain"


def register(server: Server) -> None:
    """Answer the request."""
    server.feature(METHOD)(chain)


async def chain(ls: Server, params: Any) -> dict[str, Any] | None:
    """The chain of the finding at a `position` of the document `uri`: its `code`, `message`, `verdict`, and `steps`.

    A step has a `kind` (`region`, `marker`, `call`, `effect`, `evidence`), a `text` that says what happens there, the
    line of `code` as it is written, and the `uri` and `range`. Null where there is no finding of a marked function.
    """
    place = ls.documents.place_of(str(params.uri))
    position = lsp.Position(int(params.position.line), int(params.position.character))
    return await ls.scheduler.ask(lambda: _chain(ls, place, position))


def _chain(ls: Server, place: Place, position: lsp.Position) -> dict[str, Any] | None:
    """In the thread of the analysis."""
    finding = finding_at(ls, place, position)
    if finding is None:
        return None
    links, evidence = finding.related[: finding.links], finding.related[finding.links :]
    steps = [_step(ls, "region", text, where) for text, where in _regions(ls, finding)]
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


def _regions(ls: Server, finding: Diagnostic) -> list[tuple[str, Location]]:
    """The calls of the marked function in compiled functions; of one that is compiled itself, none."""
    marker = finding.related[0].location.path if finding.links else finding.location.path
    folder = ls.engine.roots.folder_of(marker)
    if folder is None or finding.marker == "compiled":
        return []
    callers = folder.callers_of(marker, finding.function)
    return [
        (f"`{one.caller}`, which is compiled, calls `{finding.function}`", one.location)
        for one in callers
        if one.compiled
    ]


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
