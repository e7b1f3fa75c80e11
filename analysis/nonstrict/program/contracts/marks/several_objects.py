"""Several objects of a class that one region is compiled for: a setting that differs between them is known of none."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.values import NO_CONSTANT, AbstractObject, Kind, Value, any_of_kind, join

if TYPE_CHECKING:
    from nonstrict.program.domain.definitions import Region

_OBJECTS = frozenset({Kind.MODULE, Kind.OBJECT})


def with_another(region: Region, target: Value) -> Region:
    """A region that is compiled for one more object, as rules see it."""
    held, other = _object(region.target), _object(target)
    if held is None or other is None or held.heap is None or other.heap is None or held.heap is other.heap:
        return region
    differing = {
        name: join(any_of_kind(value), any_of_kind(given))
        for name, value in held.heap.attributes.items()
        if held.ref is other.ref and (given := other.heap.attributes.get(name)) is not None and _differ(value, given)
    }
    if not differing:
        return region
    made = AbstractObject()
    for slot in AbstractObject.__slots__:
        setattr(made, slot, getattr(held.heap, slot))
    made.attributes = {**held.heap.attributes, **differing}
    return dataclasses.replace(region, target=_with(region.target, held._replace(heap=made)))


def _differ(one: Value, other: Value) -> bool:
    keys = {key_of(one), key_of(other)}
    return one.const is not NO_CONSTANT and other.const is not NO_CONSTANT and len(keys) > 1


def _object(target: Value) -> Value | None:
    held = target.bound.receiver if target.bound is not None else target
    return held if held.kind in _OBJECTS else None


def _with(target: Value, held: Value) -> Value:
    return target._replace(ref=target.bound._replace(receiver=held)) if target.bound is not None else held
