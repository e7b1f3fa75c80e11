"""Which functions are traced: parts of a marked function's body, or of a compiled region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.effects import reachable, span_of

if TYPE_CHECKING:
    from nonstrict.findings import Span
    from nonstrict.fixes.context import Context
    from nonstrict.program.definitions import Function

_KINDS = frozenset({"nonstrict", "in-graph", "constant-result", "make-fx"})
#: How `invoke` tells functions apart that it interpreted: in bodies, and in regions.
_BODY, _REGION = 0, 2


def in_bodies(context: Context) -> frozenset[Span]:
    """The functions that run while a marked function is traced."""
    machine = context.machine
    found = {_span(mark.function) for mark in machine.marks.values() if mark.function and mark.kind in _KINDS}
    if context.body.mark.function is not None:
        found.add(_span(context.body.mark.function))
    reached = (one.summary.definition for one in reachable(context.body.summary))
    return frozenset(found | {_span(one) for one in reached if one is not None} | _interpreted(context, _BODY))


def in_regions(context: Context) -> frozenset[Span]:
    """The functions that Dynamo traces: compiled ones, and what they call."""
    regions = {_span(region.function) for region in context.machine.regions.values()}
    return frozenset(regions | _interpreted(context, _REGION))


def _interpreted(context: Context, how: int) -> frozenset[Span]:
    known = context.documents.uses.interpreted
    if how not in known:
        summaries = [(key[1], summary.definition) for key, summary in context.machine.memo.items()]
        known[how] = frozenset(_span(one) for mode, one in summaries if one is not None and mode == how)
    return known[how]


def _span(function: Function) -> Span:
    return span_of(function.module.path, function.offset, function.node)
