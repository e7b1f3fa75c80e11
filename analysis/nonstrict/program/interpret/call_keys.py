"""Which calls of a function are interpreted together: those of the same kinds of arguments share a summary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.events import Event
from nonstrict.program.domain import symbols
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.values import CALLABLES, TENSORS, UNKNOWN, Flag, Kind, Value
from nonstrict.program.externals import differentiation
from nonstrict.program.objects import dimensions

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.frames import Frame

#: How a function is interpreted: as traced code, as code outside any trace, in a region, in an operator, to see what it
#: does outside of a trace.
_TRACED = 0
_STATIC = 1
_REGION = 2
_OPAQUE = 3
_PLAIN = 4


def key_of(frame: Frame, function: Function, bound: dict[str, Value]) -> tuple[object, ...]:
    """What tells calls of a function apart. Where there are too many, what is `bound` is made general."""
    if frame.differentiates:
        return (*differentiation.key(function, bound), _mode(frame))
    machine, mode = frame.machine, _mode(frame)
    if mode == _OPAQUE:
        return (function, mode, tuple((name, value.with_taint(frozenset())) for name, value in bound.items()))
    key = _key(function, bound, mode)
    marks = mode == _STATIC and function.name in machine.words
    if marks or machine.summaries.tells_apart(function, key, static=mode == _STATIC):
        return key
    # Too many kinds of arguments: from here on what they are is known, what they hold is not.
    for name, value in bound.items():
        bound[name] = _general(value)
    return _key(function, bound, mode)


def carries_draws(frame: Frame, value: Value) -> bool:
    """Whether what is nondeterministic in an argument goes with it: what the function does with it then decides.

    Of all other arguments it is taken to decide something.
    """
    return not frame.differentiates and _mode(frame) in (_TRACED, _PLAIN) and bool(_draws(value))


def _mode(frame: Frame) -> int:
    if frame.opaque or frame.region:
        return _OPAQUE if frame.opaque else _REGION
    return _PLAIN if frame.plain and not frame.static else int(frame.static)


def _key(function: Function, bound: dict[str, Value], mode: int) -> tuple[object, ...]:
    told_apart = ~(Flag.LITERAL | Flag.GRADIENT) if mode == _REGION else ~(Flag.LITERAL | Flag.FLOATING | Flag.GRADIENT)
    return (function, mode, tuple((name, _shape(value, told_apart, mode)) for name, value in bound.items()))


def _shape(value: Value, told_apart: int, mode: int) -> Value:
    """What tells two arguments apart: a tensor's exact place among the arguments does not.

    What is traced of a module is the same in the wrapper that `torch.compile` puts around it.
    """
    value = dimensions.of_any_number(value)
    if value.flags & Flag.COMPILED and mode != _STATIC:
        value = value._replace(flags=value.flags & ~Flag.COMPILED)
    if value.kind in TENSORS and value.place.root is Root.ARGUMENT:
        place = AccessPath(Root.ARGUMENT, "", "", ("~",) if value.place.is_view else ())
        return Value(value.kind, place, value.ref, flags=value.flags & told_apart, taint=symbols.of(value))
    return value if not value.taint else value.with_taint(symbols.of(value) | _draws(value) | _given(value))


def _general(value: Value) -> Value:
    if value.kind in CALLABLES or value.kind is Kind.UNION:
        return value if value.kind is not Kind.UNION else UNKNOWN
    place = value.place if not value.place.path else AccessPath(value.place.root, value.place.owner, value.place.name)
    return Value(value.kind, place, value.dotted or None, taint=_draws(value))


def _given(value: Value) -> frozenset[Any]:
    """What a value that is computed in a region carries of where the region has from what it is computed of."""
    return frozenset(effect for effect in value.taint if effect.event is Event.GUARD)


def _draws(value: Value) -> frozenset[Any]:
    """The nondeterministic values that a number, or what may be one, came from."""
    if not value.taint or value.kind not in (Kind.NUMBER, Kind.UNKNOWN):
        return frozenset()
    return frozenset(effect for effect in value.taint if effect.event is Event.RANDOM)
