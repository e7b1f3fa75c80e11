"""Calls of a region after `train()` and after `eval()`: Dynamo compiles for each where a module in it reads its mode.

Measured on torch 2.13: only the mode of modules that read it is guarded, as `nn.Dropout` does and `nn.Linear` does not.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event, Use
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.regions import calls
from nonstrict.program.contracts.regions.assigned import parts
from nonstrict.program.contracts.regions.guard_sources import holders
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed, span_of
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.frames import Frame

#: What the table of guards calls it.
SOURCE = "training mode"
_SETTERS = {"train": True, "eval": False}
#: How many modes there are.
NUMBER = 2
_SET = "set here before calls of the region"


class _Called(NamedTuple):
    """A call of a region, and what set the mode of its module, called `name`, in front of it."""

    frame: Frame
    node: ast.Call
    setter: ast.Call
    name: str


def observed(region: Interpreted) -> Iterator[tuple[Observed, int]]:
    """The last call of the region after `eval()`, if others are made after `train()`."""
    found = _by_mode(region)
    if len(found) == NUMBER:
        last = found[False]
        place = AccessPath(Root.UNKNOWN, "", f"{last.name}.training")  # of all modules in it
        effect = Effect(Event.GUARD, last.frame.module.path, last.frame.offset, last.node, place, how=Use.BRANCH)
        yield Observed(effect, (), in_hook=False), NUMBER


def uses(region: Interpreted) -> Iterator[tuple[Observed, tuple[Related, ...]]]:
    """The first uses of the mode of modules in a region that is called in both modes, with what sets these."""
    found = _by_mode(region).values()
    if len(found) == NUMBER:
        spans = (span_of(one.frame.module.path, one.frame.offset, one.setter) for one in found)
        evidence = tuple(Related(span, _SET) for span in spans)
        first = {seen.effect.place: seen for seen in reversed([*region.observed(Event.MODE)])}
        yield from ((seen, evidence) for seen in first.values())


def may_train(region: Interpreted) -> bool:
    """Whether calls of the region meet modules that train, as they do unless `eval()` is said somewhere."""
    found = _by_mode(region)
    return True in found or not (found or any(_evaluates(frame.module) for frame, _, _, _ in calls.of(region)))


def _evaluates(module: Module) -> bool:
    """Whether code of a module sets a mode other than that of training, of whatever it is."""
    calls_in = (node for part, _ in parts(module, (*_SETTERS,)) for node in walk(part) if isinstance(node, ast.Call))
    named = ((node, node.func.attr) for node in calls_in if isinstance(node.func, ast.Attribute))
    return any(method in _SETTERS and _set_by(node, method) is not True for node, method in named)


def _by_mode(region: Interpreted) -> dict[bool, _Called]:
    """The last call of the region in each mode, if the region reads modes."""
    places = list(dict.fromkeys(seen.effect.place for seen in region.observed(Event.MODE)))
    if not places:
        return {}
    held = frozenset(id(one.heap) for place in places for one in holders(region, place) if one is not None and one.heap)
    found: dict[bool, _Called] = {}
    for frame, node, _, _ in calls.of(region):
        if isinstance(node, ast.Call) and (told := _mode(frame, node, held)) is not None:
            found[told[0]] = told[1]
    return found


def _mode(frame: Frame, call: ast.Call, held: frozenset[int]) -> tuple[bool, _Called] | None:
    """The mode that is set last in front of a call in the function that makes it, and of what; None for none known."""
    around = naming.text_of(frame)
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
    return None if chosen or mode is None else (mode, _Called(frame, call, setter, ast.unparse(method.value)))


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
