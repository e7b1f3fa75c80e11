"""Objects and modules that a region itself makes and passes: in every call, or where one way through it does."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from nonstrict.program.contracts.boundary.pytree_support import elements
from nonstrict.program.discovery import callers, constructions
from nonstrict.program.domain.access_paths import FRESH, Root
from nonstrict.program.domain.values import NESTED_CONTAINERS, Kind, Value
from nonstrict.program.objects import parameters

if TYPE_CHECKING:
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.state.machine import Machine


class Made(enum.IntEnum):
    """In which calls of a region what it passes is made by the region itself; the last: in some that were seen."""

    NEVER = 0
    SOMETIMES = 1
    ALWAYS = 2


def made(machine: Machine, region: Function | None, value: Value, depth: int = 0) -> Made:
    """Whether a region makes an object or module that it passes, alone or in a container."""
    if value.kind is Kind.UNION:
        return _on_some_way(machine, region, value, depth)
    if value.kind in (Kind.OBJECT, Kind.MODULE):
        return Made.ALWAYS if is_new(value) else Made.NEVER
    if depth >= NESTED_CONTAINERS:
        return Made.NEVER
    return max((made(machine, region, element, depth + 1) for element in elements(value)), default=Made.NEVER)


def is_new(value: Value) -> bool:
    """Whether an object or module was seen to be made, and is not what stands for any of its class."""
    template = value.of_class.template if value.of_class is not None else None
    known = value.heap is not None and (template is None or template.heap is not value.heap)
    return value.place == FRESH and known


def _on_some_way(machine: Machine, region: Function | None, value: Value, depth: int) -> Made:
    """What is made on one way, and was there before on another: a parameter may always be given, or be left out."""
    ways = [made(machine, region, one, depth) for one in value.alternatives()]
    if max(ways) is Made.NEVER or min(ways) is Made.ALWAYS:
        return max(ways)
    before = [one for one, how in zip(value.alternatives(), ways, strict=True) if how is Made.NEVER]
    given = [_given(machine, region, one) for one in before]
    return given[0] if len(set(given)) == 1 else Made.SOMETIMES


def _given(machine: Machine, region: Function | None, value: Value) -> Made:
    """Whether what a parameter, or an attribute of `self`, holds leaves it to the region to make something else."""
    place = value.place
    if region is None or place.root is not Root.ARGUMENT:
        return Made.SOMETIMES
    if place.path:
        return _left(_stored(machine, region, place), unknown=Made.NEVER)
    if place.name in parameters.default_nodes(region.node.args) and callers.leaves_out(machine, region, place.name):
        return Made.ALWAYS
    return _left(callers.handed_to(machine, region, place.name), unknown=Made.SOMETIMES)


def _stored(machine: Machine, region: Function, place: AccessPath) -> Value | None:
    """What the objects that were seen to be made keep in an attribute of `self`."""
    own = [one.arg for one in (*region.node.args.posonlyargs, *region.node.args.args)][:1] == [place.name]
    if not own or region.owner is None or len(place.path) != 1 or not place.path[0].startswith("."):
        return None
    return constructions.given(machine, region.owner, place.path[0][1:])


def _left(passed: Value | None, *, unknown: Made) -> Made:
    """In which calls something is None, as far as is known what it is."""
    if passed is None:
        return unknown
    kinds = {one.kind for one in passed.alternatives()}
    if Kind.NONE in kinds:
        return Made.ALWAYS
    return unknown if Kind.UNKNOWN in kinds else Made.NEVER
