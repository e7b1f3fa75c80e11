"""Sizes that a region keeps to see whether they are others: `if self.shape != x.shape: ...; self.shape = x.shape`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import guarded, sizes
from nonstrict.program.discovery import roots
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.effects import Effect, Observed

_KINDS = {Kind.SIZE: "sizes of an argument", Kind.NUMBER: "size of an argument"}
_OTHER = (ast.NotEq, ast.Eq, ast.IsNot, ast.Is)


class Kept(NamedTuple):
    """A size that is kept, in the words of the table of guards, where it is written, and what it is the size of.

    `each` says that every other size takes its place; without that, only greater ones do, or smaller ones.
    """

    kind: str
    seen: Observed
    given: Effect
    each: bool


def kept(region: Interpreted, writes: list[Observed]) -> Kept | None:
    """The writes of a place as those of such a cache; None for all others."""
    found = [one for seen in writes for one in _kept(region, seen)]
    return found[0] if found and len(found) == len(writes) else None


def _kept(region: Interpreted, seen: Observed) -> Iterator[Kept]:
    effect = seen.effect
    given = [one for one in guarded.inputs(effect.value) if sizes.at(one.place) is not None]
    tests = list(_tests(region, effect))
    if effect.value.kind in _KINDS and given and tests:
        each = all(isinstance(operator, _OTHER) for test in tests for operator in test.ops)
        yield Kept(_KINDS[effect.value.kind], seen, given[0], each)


def _tests(region: Interpreted, effect: Effect) -> Iterator[ast.Compare]:
    """The comparisons of what is there with something, behind which a write stands."""
    steps = steps_of(effect.node)
    module = region.machine.project.module(effect.path)
    around = roots.function_around(module, effect.node, effect.offset) if module is not None and steps else None
    for statement in walk(around) if around is not None else ():
        if isinstance(statement, ast.If) and any(
            inner is effect.node for part in statement.body for inner in walk(part)
        ):
            compared = (inner for inner in walk(statement.test) if isinstance(inner, ast.Compare))
            yield from (
                one for one in compared if any(steps_of(side) == steps for side in (one.left, *one.comparators))
            )
