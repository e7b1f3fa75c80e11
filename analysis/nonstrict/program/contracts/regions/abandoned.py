"""Functions of a region that run as plain Python from some break on: what would break behind it does not come up.

Dynamo gives a function up at a break that it cannot resume after, and a generator at any. What such a function calls is
compiled on its own, and breaks as before.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.resuming import end_of
from nonstrict.facts.walk import own_scope
from nonstrict.knowledge.graph_breaks import falls_back

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.facts.resuming import Position
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Observed


class Abandoned(NamedTuple):
    """Where a function is given up first: behind which position, and the line of the break."""

    behind: Position
    line: int


def first(region: Interpreted, function: Function) -> dict[ast.AST, Abandoned]:
    """Where functions that run in a region are given up by a break that every run of them comes to."""
    found: dict[ast.AST, Abandoned] = {}
    for seen in region.observed(Event.BREAK):
        if region.graph_break(seen) is not None:
            for given_up, node in _given_up(region, function, seen):
                one = Abandoned(end_of(node), getattr(node, "lineno", 0) + given_up.offset)
                found[given_up.node] = min(found.get(given_up.node, one), one)
    return found


def line_before(abandoned: Mapping[ast.AST, Abandoned], region: Function, seen: Observed) -> int:
    """The line of the break for which the function around an effect was given up before it is reached; 0 for none."""
    function = seen.chain[-1].summary.definition if seen.chain else region
    known = abandoned.get(function.node) if function is not None and not seen.in_hook else None
    return known.line if known is not None and known.behind < end_of(seen.effect.node) else 0


def _given_up(region: Interpreted, function: Function, seen: Observed) -> Iterator[tuple[Function, ast.AST]]:
    """The functions on the way to a break that are given up because of it, each with what breaks in it."""
    called = [edge.summary.definition for edge in seen.chain]
    nodes = [*(edge.node for edge in seen.chain), seen.effect.node]
    conditional = [*(edge.conditional for edge in seen.chain), seen.effect.conditional]
    for level, around in enumerate([function, *called]):
        if around is None or any(conditional[level:]):
            continue
        by_itself = level == len(called) and falls_back(seen.effect.what, region.torch)
        if by_itself or _is_generator(around.node) or region.in_the_way(around, nodes[level]):
            yield around, nodes[level]


def _is_generator(function: FunctionNode) -> bool:
    return any(isinstance(node, (ast.Yield, ast.YieldFrom)) for node in own_scope(function))
