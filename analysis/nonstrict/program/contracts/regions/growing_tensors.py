"""Tensors that a region makes longer in each call, and keeps: `self.keys = torch.cat([self.keys, key], 1)`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change
from nonstrict.facts.joining import joined_along
from nonstrict.facts.reaching import source
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions.guard_sources import held_at
from nonstrict.program.discovery import roots
from nonstrict.program.domain.values import TENSORS, Flag, Kind
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.library_calls import Names
    from nonstrict.facts.scopes import FunctionNode
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.effects import Effect, Observed

#: What the table of guards calls them, by what lives there before the first call.
_TENSOR, _FROM_NONE, _BUFFER = "growing tensor", "growing tensor from None", "growing buffer"
KINDS = frozenset({_TENSOR, _FROM_NONE, _BUFFER})
_REBINDS = frozenset({Change.NAME, Change.ATTRIBUTE, Change.ITEM})


def kind(region: Interpreted, writes: Sequence[Observed]) -> str:
    """What the table of guards calls the writes of one place by which a tensor grows in each call; "" for others.

    The first call may put something there instead, where it finds None.
    """
    told = [_grows(region, seen.effect) for seen in writes]
    held = held_at(region, writes[0].effect.place)
    if True not in told or None in told or held is None:
        return ""
    before = {one.kind for one in held.alternatives()} - {Kind.UNKNOWN}
    if Kind.NONE in before:
        return _FROM_NONE
    if not before <= TENSORS or False in told:
        return ""
    return _BUFFER if any(one.flags & Flag.REGISTERED for one in held.alternatives()) else _TENSOR


def _grows(region: Interpreted, effect: Effect) -> bool | None:
    """Whether a write makes a tensor longer that is there; False where it does so only if one is, None for others."""
    module = region.machine.project.module(effect.path)
    around = roots.function_around(module, effect.node, effect.offset) if module is not None else None
    if module is None or around is None or effect.how not in _REBINDS or not effect.value.is_tensor:
        return None
    steps, value = _written(around, effect.node)
    tests = list(_tests(around, effect.node))
    if value is None or not all(_asks_for_none(test, steps) for test in tests):
        return None
    names = naming.names_below(region.machine.module_frame(module).machine, module, around)
    several = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
    if any(_joins(names, around, one, steps) for one in several):
        return not isinstance(value, ast.IfExp) or _asks_for_none(value.test, steps) or None
    return False if tests else None


def _joins(names: Names, around: FunctionNode, value: ast.expr, steps: tuple[str, ...]) -> bool:
    return joined_along(names, source(around, value), steps) is not None


def _written(around: FunctionNode, node: ast.AST) -> tuple[tuple[str, ...], ast.expr | None]:
    """The steps to what an assignment writes, and what it is given."""
    for statement in walk(around):
        for target in statement.targets if isinstance(statement, ast.Assign) else ():
            for one, value in _pairs(target, statement.value) if isinstance(statement, ast.Assign) else ():
                if node in (statement, one):
                    return steps_of(one), source(around, value)
    return (), None


def _pairs(target: ast.expr, value: ast.expr) -> list[tuple[ast.expr, ast.expr]]:
    """The targets of an assignment, each with what it is given: `self.k, self.v = k, v`."""
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def _tests(around: FunctionNode, node: ast.AST) -> Iterator[ast.expr]:
    """What decides on a statement."""
    for statement in walk(around):
        if isinstance(statement, ast.If) and holds([*statement.body, *statement.orelse], node):
            yield statement.test


def _asks_for_none(test: ast.expr, steps: tuple[str, ...]) -> bool:
    """Whether a condition asks whether there is something: `self.keys is None`."""
    compared = test.comparators[0] if isinstance(test, ast.Compare) and len(test.comparators) == 1 else None
    is_none = isinstance(compared, ast.Constant) and compared.value is None
    return is_none and isinstance(test, ast.Compare) and steps_of(test.left) == steps
