"""Calls of a region with gradients and without: Dynamo compiles for each, as it guards the mode of torch."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import calls
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed
from nonstrict.program.externals.differentiation import SWITCHES
from nonstrict.program.interpret.rounds import holds
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls it.
SOURCE = "grad mode"
_MODES = frozenset(f"torch.{name}" for name in SWITCHES if name != "set_grad_enabled")
#: A state of torch's, and no variable.
_PLACE = AccessPath(Root.UNKNOWN, "torch", "torch.is_grad_enabled()")
_SEVERAL = 2


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """The last call of the region that stands in a mode, where others stand in none, with how many modes there are."""
    found: dict[str, tuple[Frame, ast.AST]] = {}
    for frame, node, _, _ in calls.of(region):
        found[_mode(frame, node)] = frame, node
    if "" in found and len(found) >= _SEVERAL:
        frame, node = next(call for mode, call in found.items() if mode)
        effect = Effect(Event.GUARD, frame.module.path, frame.offset, node, _PLACE, how=Use.BRANCH)
        yield Observed(effect, (), in_hook=False), len(found)


def _mode(frame: Frame, node: ast.AST) -> str:
    """The mode around a call in the function that makes it: of a `with`, or of a decorator; "" for none."""
    around = frame.function.node if frame.function is not None else frame.module.outline.shell
    names = naming.names_at(frame)
    blocks = (one for one in walk(around) if isinstance(one, (ast.With, ast.AsyncWith)) and holds(one.body, node))
    entered = [item.context_expr for block in blocks for item in block.items]
    entered += getattr(around, "decorator_list", [])
    named = (names(one.func if isinstance(one, ast.Call) else one) for one in entered)
    return next((name for name in named if name in _MODES), "")
