"""What the table of guards calls the places from which a region has values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.held_inside import at_path
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from nonstrict.program.contracts.interpreted import Interpreted

_BARE = {Root.ARGUMENT: "argument", Root.GLOBAL: "global", Root.CELL: "cell", Root.DEFAULT: "default"}
#: What lives in a cell is a local of the frame to Dynamo, as an argument is, with its attributes and entries.
_AS_LOCAL = {Root.CELL: Root.ARGUMENT}
_OF_OBJECT = {Root.ARGUMENT: "attribute of an argument", Root.GLOBAL: "attribute of a global object"}
#: Also an entry of a container that one holds: a whole number in it is a constant (measured on torch 2.13).
_OF_MODULE = "attribute of an object that a module holds"
_ENTRIES = {
    (Root.ARGUMENT, Kind.DICT): "entry of a dict argument",
    (Root.ARGUMENT, Kind.LIST): "entry of a list argument",
    (Root.ARGUMENT, Kind.TUPLE): "entry of a tuple argument",
    (Root.GLOBAL, Kind.DICT): "entry of a global dict",
    (Root.GLOBAL, Kind.LIST): "entry of a global list",
}


def sources(region: Interpreted, place: AccessPath) -> tuple[str, ...]:
    """The words of the table for a place; several where it is not known which it is, none where none fits."""
    if not place.path:
        return (_BARE[place.seen_as],) if place.seen_as in _BARE else ()
    held = holders(region, place)
    if not place.path[-1].startswith("."):
        among = held[-1].alternatives() if held[-1] is not None else ()
        kinds = {one.kind for one in among} - {Kind.UNKNOWN}
        found = _ENTRIES.get((_root(place), kinds.pop())) if len(kinds) == 1 else None
        in_module = any(one is not None and one.kind is Kind.MODULE for one in held)
        return () if found is None else (_OF_MODULE,) if in_module else (found,)
    return _of_attribute(region, place, held)


def _of_attribute(region: Interpreted, place: AccessPath, held: list[Value | None]) -> tuple[str, ...]:
    holder = held[-1]
    if holder is not None and holder.kind is Kind.MODULE:
        own = len(place.path) == 1
        return ("attribute of the module",) if own else ("attribute of a submodule",)
    if any(one is not None and one.kind is Kind.MODULE for one in held):
        return (_OF_MODULE,)
    if holder is not None and holder.kind is Kind.CLASS:
        return ("attribute of a class",)
    if holder is None or holder.kind is not Kind.OBJECT:
        return ("attribute of the module", _OF_OBJECT.get(_root(place), "attribute of a global object"))
    if region.receiver is not None and len(place.path) == 1 and place.root is Root.ARGUMENT:
        return ("attribute of the object of a method",)
    return (_OF_OBJECT.get(_root(place), "attribute of a global object"),)


def _root(place: AccessPath) -> Root:
    return _AS_LOCAL.get(place.seen_as, place.seen_as)


def of_objects(region: Interpreted, place: AccessPath) -> tuple[str, ...]:
    """The same for an attribute of the object that a method is called on, which is not always the same object.

    What lives in a cell is in another cell for each function that is made.
    """
    if place.root is Root.CELL:
        return sources(region, place)
    holder = region.held_at(place)
    is_module = holder is not None and holder.kind is Kind.MODULE
    return ("attribute of one of several modules" if is_module else "attribute of one of several objects",)


def held_at(region: Interpreted, place: AccessPath) -> Value | None:
    """What lives at a place before the region runs, as far as known."""
    holder = holders(region, place)[-1]
    return at_path(holder, place.path[-1:])


def holders(region: Interpreted, place: AccessPath) -> list[Value | None]:
    """What the root of a place and each of its steps but the last hold, as far as known."""
    found = [_known(region.held_at(place))]
    for step in place.path[:-1]:
        found.append(_known(at_path(found[-1], (step,))))
    return found


def _known(held: Value | None) -> Value | None:
    """What is seen to live somewhere, whatever else may: only what is seen varies."""
    seen = [one for one in held.alternatives() if one.kind is not Kind.UNKNOWN] if held is not None else []
    return seen[0] if len(seen) == 1 else held
