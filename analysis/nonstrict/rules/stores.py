"""Which changes of Python state count for themselves (NST202, NST203), and which are part of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.rules.captures import is_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.rules.base import Body


def changes(body: Body, *events: Event) -> Iterator[Observed]:
    """The changes of the given kinds that no other change covers.

    Where a function is interpreted for several kinds of arguments, the same store may be one of a traced tensor or of
    something unknown: it is one of a tensor. `d.setdefault(k, []).append(v)` is one change, of the entry.
    """
    all_changes = list(body.observed(Event.WRITE, Event.LEAK))
    lines: dict[tuple[str, int], list[Observed]] = {}
    for seen in all_changes:
        span = seen.effect.span
        for line in range(span.line, span.end_line + 1):
            lines.setdefault((span.path, line), []).append(seen)
    for seen in all_changes:
        effect = seen.effect
        if effect.event not in events:
            continue
        beside = lines[effect.path, effect.span.line] if effect.event is Event.WRITE else []
        if not any(other.in_hook == seen.in_hook and _covers(other.effect, effect) for other in beside):
            yield seen


def _covers(other: Effect, write: Effect) -> bool:
    if other.span == write.span:
        return other.event is Event.LEAK and other.place == write.place
    held = other.place[:3] == write.place[:3] and other.place.path[: len(write.place.path)] == write.place.path
    return held and other.place != write.place and is_inside(write.span, other.span)
