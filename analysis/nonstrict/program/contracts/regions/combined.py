"""Several things that calls pass and that vary: Dynamo compiles for each combination of those it makes constants of."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from nonstrict.program.discovery import callers
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.held_inside import at_path
from nonstrict.program.interpret.loop_targets import loops_giving
from nonstrict.program.interpret.rounds import MANY

if TYPE_CHECKING:
    import ast
    from collections.abc import Mapping, Sequence

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.discovery.sites import Passing
    from nonstrict.program.domain.access_paths import AccessPath

_SEVERAL = 2


def number(region: Interpreted, values: Mapping[AccessPath, int]) -> int:
    """How many combinations calls pass of what lives at several places; 0 where that is not known.

    That is as many as are known one by one, or as loops give in one another, each something of its own. `values` are
    those of each place by itself.
    """
    function = region.mark.function
    places = [place for place in values if place.root is Root.ARGUMENT]
    if function is None or len(places) < _SEVERAL or len(places) < len(values):
        return 0
    passed = [[*callers.passings(region.machine, function, region.parameter_at(place))] for place in places]
    calls = [[one.node for one in each] for each in passed]
    if any(each != calls[0] for each in calls):
        return 0
    rows = [*zip(*passed, strict=True)]
    known = {row for one in rows if (row := _constants(one, places)) is not None}
    return max(len(known), max((_looped(one, [values[place] for place in places]) for one in rows), default=0))


def _constants(row: Sequence[Passing], places: Sequence[AccessPath]) -> tuple[object, ...] | None:
    """What a call passes at each place; None where that is not all known."""
    reached = [at_path(one.value, place.path) for one, place in zip(row, places, strict=True)]
    found = tuple(key_of(value) if value is not None else None for value in reached)
    return None if None in found else found


def _looped(row: Sequence[Passing], values: Sequence[int]) -> int:
    """How many combinations loops give that each give one of the things; 0 where others give some."""
    found: dict[ast.AST, int] = {}
    for one, count in zip(row, values, strict=True):
        loop = next(loops_giving(one.frame, one.node, one.expression), None) if one.expression is not None else None
        if loop is None:
            return 0
        found[loop.iterable] = max(found.get(loop.iterable, 0), count)
    return min(prod(found.values()), MANY)
