"""Sizes of the tensors that a region is given: a number that is one carries of which tensor, and along what.

A place of that sort is `x.shape[1]`, or `x.shape` where it may be any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.program.domain.access_paths import SIZES, Root
from nonstrict.program.domain.effects import given_at
from nonstrict.program.domain.values import TENSORS, UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from nonstrict.events import How
    from nonstrict.program.domain.access_paths import AccessPath


#: What the table of guards calls the uses of a size; of others it is not known which they are.
USES: dict[How, str] = {
    Use.BOUND: "loop over a size",
    Use.ARITHMETIC: "size as a number",
    Use.KEY: "size as a key",
    Use.POSITION: "size as a position",
    Use.FORMAT: "size in a text",
}


class Size(NamedTuple):
    """The size of a tensor that lives at a place, along a dimension; None where it may be any."""

    tensor: AccessPath
    dimension: int | None


def at(place: AccessPath) -> Size | None:
    """The size that a place stands for; None for all other places."""
    if SIZES not in place.path:
        return None
    steps = place.path.index(SIZES)
    further = place.path[steps + 1 :]
    along = further[0][1:-1] if len(further) == 1 else ""
    known = along.removeprefix("-").isdecimal()
    return Size(place._replace(path=place.path[:steps]), int(along) if known else None)


def is_whole(place: AccessPath) -> bool:
    """Whether a place stands for all sizes of a tensor together."""
    return place.path[-1:] == (SIZES,)


def of_tensor(tensor: Value, size: Value, dimension: int | None) -> Value:
    """The size of a tensor, carrying whose it is: a number along one dimension, or all of them."""
    given = [one.place for one in tensor.alternatives() if one.kind in TENSORS and _is_given(one.place)]
    whole = size.kind is Kind.SIZE
    places = [place.step(SIZES) if whole else _along(place.step(SIZES), dimension) for place in given]
    return _carrying(size, places)


def part_of(sizes: Value, part: Value, dimension: int | None) -> Value:
    """What is taken out of all sizes of a tensor, carrying the same of its own; no number for several of them."""
    own = frozenset(one for one in part.taint if one.event is Event.GUARD and at(one.place) is not None)
    whole = [one.place for one in sizes.taint if one.event is Event.GUARD and is_whole(one.place)]
    return _carrying(part.with_taint(part.taint - own), [_along(place, dimension) for place in whole])


def _is_given(place: AccessPath) -> bool:
    return place.root is Root.ARGUMENT and not place.is_view


def _along(place: AccessPath, dimension: int | None) -> AccessPath:
    return place.step("[]" if dimension is None else f"[{dimension}]")


def _carrying(size: Value, places: list[AccessPath]) -> Value:
    if not places:
        return size
    plain = size._replace(taint=UNKNOWN.taint)
    return size.with_taint(size.taint.union(given_at(plain.at(place)) for place in places))
