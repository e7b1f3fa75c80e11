"""Which sizes of the tensors that a function makes follow from sizes of an argument that vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.contracts.boundary.sizes import Sizes
from nonstrict.program.contracts.marks.shape_reading import tensors_of
from nonstrict.program.domain.shape_terms import Symbol, World, symbols_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nonstrict.facts.library_calls import Names
    from nonstrict.program.domain.definitions import Function

_RANKS = range(1, 6)


def derived_sizes(function: Function, names: Names, argument: str, sizes: Sizes) -> dict[str, Sizes]:
    """The sizes that vary of each local variable, for every number of dimensions that the argument can have."""
    arguments = function.node.args
    ordered = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    if argument not in ordered:
        return {}
    position = ordered.index(argument)
    each = [_for_rank(function, names, position, sizes, rank) for rank in _RANKS if _can_have(sizes, rank)]
    known = [found for found in each if found is not None]
    every = set[str].intersection(*(set(found) for found in known)) if known else set[str]()
    # A dimension that a variable lacks is not asked for where it has so few.
    limits = {name: max(len(found[name]) for found in known) for name in every}
    result: dict[str, Sizes] = {}
    for name in every:
        dimensions = (at for at in range(limits[name]) if all(at >= len(one[name]) or one[name][at] for one in known))
        result[name] = Sizes(frozenset(dimensions))
    return {name: found for name, found in result.items() if found.dimensions and name != argument}


def _can_have(sizes: Sizes, rank: int) -> bool:
    """Whether dimensions that are counted from both ends are the same of so many."""
    front = {at for at in sizes.dimensions if at >= 0}
    back = {at + rank for at in sizes.dimensions if at < 0}
    return all(0 <= at < rank for at in front | back) and (not front or not back or front == back)


def _for_rank(
    function: Function, names: Names, position: int, sizes: Sizes, rank: int
) -> Mapping[str, tuple[bool, ...]] | None:
    """Of the dimensions of each variable, whether they vary; None where the argument cannot have so many."""
    world = World({position: rank})
    found = tensors_of(function.node, names, world)
    if found is None:
        return None
    varying = {at % rank for at in sizes.dimensions}
    symbols = {
        one
        for at in range(rank)
        if sizes.everything or at in varying
        for one in symbols_of(world.resolved(Symbol(position, at)))
    }
    return {
        name: tuple(size is not None and bool(symbols_of(world.resolved(size)) & symbols) for size in dims)
        for name, dims in found.items()
    }
