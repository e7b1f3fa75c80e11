"""Which functions are traced: parts of a marked function's body, or of a compiled region."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.effects import reachable, span_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from nonstrict.findings import Span
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.definitions import Function

_KINDS = frozenset({"nonstrict", "in-graph", "constant-result", "make-fx"})
_COMPILED = "compiled"
#: How `invoke` tells functions apart that it interpreted: in bodies, and in regions.
_BODY, _REGION = 0, 2


def in_bodies(context: Context) -> frozenset[Span]:
    """The functions that run while a marked function is traced."""

    def everywhere() -> Iterator[Function | None]:
        yield from (mark.function for mark in context.machine.marks.values() if mark.kind in _KINDS)
        yield from _interpreted(context, _BODY)

    def here() -> Iterator[Function | None]:
        yield context.body.mark.function
        yield from (one.summary.definition for one in reachable(context.body.summary))

    return _spans(context, "traced as bodies", everywhere) | _spans(context, context.body, here)


def in_regions(context: Context) -> frozenset[Span]:
    """The functions that Dynamo traces: compiled ones, and what they call."""

    def found() -> Iterator[Function | None]:
        yield from (region.function for region in context.machine.regions.values())
        yield from _interpreted(context, _REGION)

    return _spans(context, "traced by Dynamo", found)


def passed_through(context: Context) -> frozenset[Span]:
    """The functions that a value is handed through up to code that is not traced, as the finding is about."""
    return in_regions(context) if context.body.marker == _COMPILED else in_bodies(context)


def marked(context: Context) -> frozenset[Span]:
    """The functions that have a marker of any kind."""
    return _spans(context, "marked", lambda: (mark.function for mark in context.machine.marks.values()))


def compiled(context: Context) -> frozenset[Span]:
    """The functions that regions begin with."""
    return _spans(context, "compiled", lambda: (region.function for region in context.machine.regions.values()))


def _interpreted(context: Context, how: int) -> Iterator[Function | None]:
    return (summary.definition for key, summary in context.machine.summaries.known.items() if key[1] == how)


def _spans(context: Context, key: object, functions: Callable[[], Iterable[Function | None]]) -> frozenset[Span]:
    """Where functions are defined; looked for once by each key."""
    known = context.documents.uses.traced
    if key not in known:
        known[key] = frozenset(span_of(one.module.path, one.offset, one.node) for one in functions() if one is not None)
    return known[key]
