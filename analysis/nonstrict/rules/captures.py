"""What the rules on captured state (NST101 to NST104) share: which reads count, and how messages name them."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Related
from nonstrict.program.domain.access_paths import VIEW, Root
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import How
    from nonstrict.findings import Span
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body


class Sort(enum.Enum):
    """What a captured value means to the compiler."""

    TENSOR = "tensor"
    MODULE = "module"
    STATE = "state"
    HARMLESS = "harmless"


_MODULES = frozenset({Kind.PARAMETER, Kind.MODULE})
_SPECIFIC = frozenset({Sort.TENSOR, Sort.MODULE})
#: A captured generator is tracked by torch; iterators are NST301, replaced marked functions NST107.
_ELSEWHERE = frozenset({Kind.GENERATOR, Kind.ITERATOR, Kind.MARKED})


def sort_of(value: Value) -> Sort:
    """Sort a captured value; a value that may also be None counts as what it is otherwise."""
    kinds = {alternative.kind for alternative in value.alternatives()} - {Kind.NONE}
    if not kinds:
        return Sort.STATE
    if kinds == {Kind.TENSOR}:
        return Sort.TENSOR
    if kinds <= _MODULES | {Kind.TENSOR}:
        return Sort.MODULE
    return Sort.HARMLESS if kinds & _ELSEWHERE else Sort.STATE


def captured_reads(body: Body, sort: Sort) -> Iterator[Observed]:
    """The reads of captured values of one sort, without those that belong to an in-place write (NST204).

    Where one expression may read values of several sorts, tensors and modules count, other state does not.
    """
    reads = _innermost([read for read in body.observed(Event.READ) if read.effect.place.captured])
    written = [seen.effect for seen in body.observed(Event.TENSOR_WRITE) if seen.effect.place.captured]
    specific = {_spot(read.effect) for read in reads if sort_of(read.effect.value) in _SPECIFIC}
    for read in reads:
        effect = read.effect
        if sort_of(effect.value) is not sort or (sort not in _SPECIFIC and _spot(effect) in specific):
            continue
        if not any(_reads_for(effect, write) for write in written):
            yield read


def _spot(effect: Effect) -> tuple[Span, AccessPath]:
    return effect.span, effect.place


def _innermost(reads: list[Observed]) -> list[Observed]:
    """Reads without those of what an inner expression, or a helper that it calls, read to hand it on."""
    alike: dict[tuple[AccessPath, How | None], list[Observed]] = {}
    for read in reads:
        place = read.effect.place
        whole = place._replace(path=tuple(step for step in place.path if step != VIEW))
        alike.setdefault((whole, read.effect.how), []).append(read)
    outer = {id(read) for group in alike.values() if len(group) > 1 for read in _outer(group)}
    return [read for read in reads if id(read) not in outer]


def _outer(group: list[Observed]) -> Iterator[Observed]:
    """The reads inside whose expression another one stands, or a call that leads to another one."""
    calls = _by_line({edge.span for read in group for edge in read.chain})
    own = _by_line({read.effect.span for read in group})
    direct = {read.effect.span for read in group if not read.effect.place.is_view}
    for read in group:
        span = read.effect.span
        lines = [(span.path, line) for line in range(span.line, span.end_line + 1)]
        seen = read.effect.place.is_view and span in direct
        led = seen or any(is_inside(call, span) for line in lines for call in calls.get(line, ()))
        if led or any(is_inside(other, span) and other != span for line in lines for other in own.get(line, ())):
            yield read


def _by_line(spans: set[Span]) -> dict[tuple[str, int], list[Span]]:
    found: dict[tuple[str, int], list[Span]] = {}
    for span in spans:
        found.setdefault((span.path, span.line), []).append(span)
    return found


def _reads_for(read: Effect, write: Effect) -> bool:
    """Whether a read stands inside the expression that changes the same captured tensor."""
    return read.place[:3] == write.place[:3] and is_inside(read.span, write.span)


def is_inside(inner: Span, outer: Span) -> bool:
    """Whether a span lies within another, or is the same."""
    return (
        inner.path == outer.path
        and (outer.line, outer.column) <= (inner.line, inner.column)
        and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
    )


def reads_metadata(read: Observed) -> bool:
    """Whether only shape, dtype or device of the captured value are used."""
    return read.effect.reads_metadata


def not_kept(seen: Observed) -> tuple[Related, ...]:
    """Where results leave that a cache written by hand does not keep, so that plain Python asks again."""
    return tuple(
        Related(span, "returned here without being stored: the next call reads it again") for span in seen.leaving
    )


def subject(place: AccessPath, noun: str) -> str:
    """The captured value as the subject of a message: "global tensor `W`", "tensor `W` of the bound object"."""
    name = f"{noun} `{place.text}`"
    if place.seen_as is Root.GLOBAL:
        return f"global {name}" if not place.path else name
    if place.seen_as is Root.CELL:
        return f"{name} of the enclosing function"
    if place.root is Root.DEFAULT:
        return f"default {name}"
    return f"{name} of the bound object"


def called(body: Body) -> str:
    """The name of the marked function as its author wrote it: without the functions around it."""
    return body.function.rpartition("<locals>.")[2]
