"""What containers hold, seen from those that are made of them, and from calls that are given them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import NO_CONSTANT, PRIMITIVES, UNKNOWN, AbstractObject, Kind, Value, join
from nonstrict.program.objects import subscripts

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from nonstrict.program.state.frames import Frame

#: Keys whose text tells them apart.
_PLAIN_KEYS = frozenset({str, int})
_SPREAD = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.ITERATOR})


def taken(frame: Frame, source: Value) -> AbstractObject:
    """What a new container holds that is made of another one: all but numbers as it is reached through that one."""
    made, held = AbstractObject(), source.heap
    if held is None:
        return made
    made.items = {key: _reached(frame, source, key, item) for key, item in held.items.items()}
    made.element = None if held.element is None else _reached(frame, source, NO_CONSTANT, held.element)
    made.loose = None if held.loose is None else _reached(frame, source, NO_CONSTANT, held.loose)
    made.unsure, made.missing = held.unsure, held.missing
    return made


def _reached(frame: Frame, source: Value, key: object, found: Value) -> Value:
    # Of numbers it is enough that making the container reads the other one.
    plain = all(one.kind in PRIMITIVES for one in found.alternatives())
    return found if plain else subscripts.entry(frame, source, key, found)


def is_complete(source: Value) -> bool:
    """Whether a dict holds no other entries than those that are known."""
    heap = source.heap
    return source.kind is Kind.DICT and heap is not None and not (heap.open or heap.loose is not None or heap.unsure)


def second(pair: Value) -> Value:
    """The second part of a pair: what a dict holds that is made of pairs."""
    found: Value | None = None
    for one in pair.alternatives():
        second = one.heap.items.get(1) if one.kind is Kind.TUPLE and one.heap is not None else None
        found = join(found, UNKNOWN if second is None else second)
    return found or UNKNOWN


def paired(pairs: AbstractObject) -> dict[Any, Value]:
    """What a dict holds under its keys that is made of the pairs in a list, if all of them are known."""
    items: dict[Any, Value] = {}
    for pair in pairs.items.values() if pairs.loose is None else ():
        key = pair.heap.items.get(0, UNKNOWN).const if pair.kind is Kind.TUPLE and pair.heap is not None else None
        if not isinstance(key, (str, int)):
            return {}
        items[key] = second(pair)
    return items


def entry_of(key: object) -> str:
    """The step to the entry of a key."""
    return f"[{key!r}]"


def entries_at(index: Value) -> tuple[str, ...]:
    """The steps to the entries that an index, which may be one of several, means; none where they are not known."""
    keys = [one.const for one in index.alternatives()]
    return tuple(entry_of(key) for key in keys) if all(type(key) in _PLAIN_KEYS for key in keys) else ()


def entries_in(frame: Frame, given: Value) -> tuple[str, ...]:
    """The steps to the entries that a dict made in seen code holds; none where it may hold others."""
    heap, place = given.heap, given.place
    kept = place.root is Root.GLOBAL and not any(
        frame.machine.mutations.is_written(place, rebound=one) for one in (False, True)
    )
    if given.kind is not Kind.DICT or heap is None or not (kept or place.root is Root.FRESH):
        return ()
    known = not heap.open and heap.loose is None and all(type(key) in _PLAIN_KEYS for key in heap.items)
    return tuple(entry_of(key) for key in heap.items) if known else ()


def captured_in(sequence: Value) -> Iterator[Value]:
    """The captured values that a container made here may hold."""
    heap = sequence.heap
    if heap is None or heap.element is None or sequence.place.captured:
        return
    rest = [heap.loose] if heap.loose is not None else []
    for member in [*heap.items.values(), *rest] or [heap.element]:
        yield from (one for one in member.alternatives() if one.place.captured)


def consume_all(frame: Frame, node: ast.AST, value: Value) -> None:
    """A function of torch is given a value, and uses the captured tensors that it holds."""
    frame.consume(node, value)
    if frame.static or value.heap is None or value.kind not in _SPREAD:
        return
    for member in captured_in(Value(value.kind, heap=taken(frame, value))):
        if member.is_tensor:
            frame.consume(node, member)
