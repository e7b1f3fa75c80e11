"""Optimizers of torch whose step a region makes, while a scheduler changes their rate: a number that Dynamo guards.

A rate that is a tensor is not a constant of the graph: nothing is compiled again for it (measured on torch 2.13).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.use_def import use_def
from nonstrict.facts.walk import own_scope
from nonstrict.program.contracts.regions import leading, rates
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects import naming
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls it.
SOURCE = "rate of an optimizer"
_STEP, _RATE = "step", "lr"


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """The steps of optimizers in a region whose rate is a number, and how many rates they meet."""
    function = region.mark.function
    inside = region.machine.static_frame(function) if function is not None else None
    for node in own_scope(function.node) if function is not None else ():
        called = node.func if isinstance(node, ast.Call) and not node.args else None
        if inside is None or not isinstance(called, ast.Attribute) or called.attr != _STEP:
            continue
        if not rates.is_optimizer(inside, called.value) or not _is_number(inside, called.value):
            continue
        number = max((rates.set_in(frame, loop) for frame, loop in leading.loops(region)), default=0)
        place = AccessPath(Root.UNKNOWN, "", f"{ast.unparse(called.value)}.param_groups[0]['{_RATE}']")
        effect = Effect(Event.GUARD, inside.module.path, inside.offset, node, place, how=Use.ARITHMETIC)
        yield Observed(effect, (), in_hook=False), number


def _is_number(frame: Frame, optimizer: ast.expr) -> bool:
    """Whether the text that makes an optimizer gives it a rate that is a number, or leaves it out."""
    if not isinstance(optimizer, ast.Name):
        return False
    outer = closure_of(frame.function) if frame.function is not None else None
    for around in (frame, outer, frame.machine.module_frame(frame.module)):
        made = use_def(naming.text_of(around)).value(optimizer.id) if around is not None else None
        if around is not None and isinstance(made, ast.Call):
            told = [*made.args[1:2], *(one.value for one in made.keywords if one.arg in (_RATE, None))]
            return all(frame.machine.evaluate(around, one).kind is Kind.NUMBER for one in told)
    return False
