"""Calls of a region after `train()` and after `eval()`: Dynamo compiles for each where a module in it reads its mode.

Measured on torch 2.13: only the mode of modules that read it is guarded, as `nn.Dropout` does and `nn.Linear` does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import calls
from nonstrict.program.contracts.regions.guard_sources import holders
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls it.
SOURCE = "training mode"
_SETTERS = {"train": True, "eval": False}
_MODES = 2


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """The last call of the region after `eval()`, if others are made after `train()`."""
    places = list(dict.fromkeys(seen.effect.place for seen in region.observed(Event.MODE)))
    if not places:
        return
    held = frozenset(id(one.heap) for place in places for one in holders(region, place) if one is not None and one.heap)
    found: dict[bool, tuple[Frame, ast.Call, str]] = {}
    for frame, node, _, _ in calls.of(region):
        if isinstance(node, ast.Call) and (told := _mode(frame, node, held)) is not None:
            found[told[0]] = frame, node, told[1]
    if len(found) == _MODES:
        frame, node, name = found[False]
        place = AccessPath(Root.GLOBAL, "", f"{name}.training")
        effect = Effect(Event.GUARD, frame.module.path, frame.offset, node, place, how=Use.BRANCH)
        yield Observed(effect, (), in_hook=False), _MODES


def _mode(frame: Frame, call: ast.Call, held: frozenset[int]) -> tuple[bool, str] | None:
    """The mode that is set last in front of a call in the function that makes it, and of what; None for none known."""
    around = frame.function.node if frame.function is not None else frame.module.outline.shell
    known = {ast.unparse(one) for one in (call.func, *call.args)}
    before = [
        (node, node.func)
        for node in walk(around)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _SETTERS
        if (node.lineno, node.col_offset) < (call.lineno, call.col_offset)
        and _is_of(frame, node.func.value, known, held)
    ]
    if not before:
        return None
    setter, method = max(before, key=lambda one: (one[0].lineno, one[0].col_offset))
    mode = _set_by(setter, method.attr)
    branches = (one for one in walk(around) if isinstance(one, (ast.If, ast.IfExp)))
    chosen = any(_holds(one, setter) and not _holds(one, call) for one in branches)
    return None if chosen or mode is None else (mode, ast.unparse(method.value))


def _is_of(frame: Frame, module: ast.expr, known: set[str], held: frozenset[int]) -> bool:
    return ast.unparse(module) in known or id(frame.machine.evaluate(frame, module).heap) in held


def _set_by(setter: ast.Call, method: str) -> bool | None:
    """Which mode a call sets: `train(False)` is `eval()`."""
    given = [*setter.args, *(keyword.value for keyword in setter.keywords)]
    if not given:
        return _SETTERS[method]
    told = given[0].value if isinstance(given[0], ast.Constant) else None
    return told if isinstance(told, bool) else None


def _holds(part: ast.AST, node: ast.AST) -> bool:
    return any(inner is node for inner in walk(part))
