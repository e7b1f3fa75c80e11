"""What it means that something is decided by the truth of a value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.program.domain.values import TENSORS, Flag, Kind, Value
from nonstrict.program.objects.classes import special

if TYPE_CHECKING:
    import ast

    from nonstrict.program.state.frames import Frame

#: What a condition asks for by itself.
_DECIDED = frozenset({Kind.NUMBER, Kind.BOOL})


def on_value(frame: Frame, node: ast.AST, value: Value, *, refuses: bool = False) -> None:
    """The truth of a value is asked for: a tensor's data is not there while tracing."""
    frame.sink(value, refuses=refuses)
    if value.kind in _DECIDED:
        frame.needed(value)
    told = special(frame, node, value, "__bool__", [])
    frame.observer.decided(frame, node, value if told is None else told)
    for alternative in value.alternatives() if not value.is_variant else ():
        if alternative.kind in TENSORS and not alternative.flags & Flag.LITERAL:
            frame.emit(Event.ESCAPE, node, alternative.place, alternative, "the truth value of a tensor")
            return
