"""Numbers that are read out of another tensor in each round of a loop: `n = int(lengths.max())`."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Taken
from nonstrict.facts.reaching import source
from nonstrict.facts.walk import walk
from nonstrict.program.interpret.rounds import SOME
from nonstrict.program.interpret.rounds import in_rounds as comes_to
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.state.frames import Frame

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_CONVERSIONS = frozenset({"builtins.int", "builtins.float", "builtins.bool", "builtins.round"})


def in_rounds(frame: Frame, place: ast.AST, number: ast.expr) -> int:
    """How many values a number has that loops around a place read out of tensors which they make anew; 0 for others."""
    around = naming.text_of(frame)
    made = source(around, number)
    tensors = [one for part in walk(made) for one in _read(frame, part)]
    tensors += [made] if frame.machine.evaluate(frame, made).is_tensor else []
    for loop in walk(around) if tensors else ():
        if isinstance(loop, _LOOPS) and comes_to(loop, place):
            made_anew = {one.id for one in walk(loop) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            if any(isinstance(one, ast.Name) and one.id in made_anew for tensor in tensors for one in walk(tensor)):
                return SOME
    return 0


def _read(frame: Frame, node: ast.AST) -> Iterator[ast.expr]:
    """The tensor that a call reads a number out of."""
    if not isinstance(node, ast.Call):
        return
    if naming.names_at(frame)(node.func) in _CONVERSIONS and len(node.args) == 1:
        if frame.machine.evaluate(frame, node.args[0]).is_tensor:
            yield node.args[0]
    elif isinstance(node.func, ast.Attribute):
        taint = frame.machine.evaluate(frame, node).taint
        if any(one.event is Event.ESCAPE and one.how is Taken.ITEM and one.node is node for one in taint):
            yield node.func.value
