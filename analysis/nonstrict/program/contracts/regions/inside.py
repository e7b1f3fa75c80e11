"""What a region changes itself of what it has from outside, so that each call meets what the one before left."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Change, Event
from nonstrict.facts.reaching import source
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.regions import growing_tensors, guarded, shape_caches, training_modes
from nonstrict.program.contracts.regions.between import adds
from nonstrict.program.contracts.regions.guard_sources import held_at
from nonstrict.program.discovery import roots
from nonstrict.program.domain.values import TENSORS, Kind
from nonstrict.program.interpret.rounds import ADDING, holds
from nonstrict.program.interpret.stepping import step_of

if TYPE_CHECKING:
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed

_CHANGES = (Event.WRITE, Event.LEAK)
#: Sets, of which a method adds what may be there already, are not in the table.
_LENGTHENING = ADDING - {"add"}
_REBINDS = frozenset({Change.NAME, Change.ATTRIBUTE, Change.OPERATOR})


class Changed(NamedTuple):
    """What the table of guards calls the changes of one thing in a region, and the first of them.

    `of_size` says which size is kept there; None where it goes on from what was there.
    """

    kind: str
    seen: Observed
    of_size: shape_caches.Kept | None = None


def changes(region: Interpreted) -> dict[AccessPath, Changed]:
    """What the region changes in each call, by where that lives, and in which way; not what is not known."""
    found: dict[AccessPath, list[Observed]] = {}
    for seen in region.observed(*_CHANGES):
        found.setdefault(seen.effect.place, []).append(seen)
    return {place: told for place, several in found.items() if (told := _told(region, several)) is not None}


def _told(region: Interpreted, several: list[Observed]) -> Changed | None:
    if grown := growing_tensors.kind(region, several):
        return Changed(grown, several[-1])
    kinds = {_kind(region, seen.effect) for seen in several}
    if len(kinds) == 1 and "" not in kinds:
        return Changed(kinds.pop(), several[0])
    kept = shape_caches.kept(region, several)
    return Changed(kept.kind, kept.seen, kept) if kept is not None else None


def _kind(region: Interpreted, effect: Effect) -> str:
    """What the table of guards calls a change; "" where it is not known to be another one in each call."""
    if effect.lazy or (effect.conditional and not _runs_in_training(region, effect)) or _may_not_run(region, effect):
        return ""
    if effect.how is Change.OPERATOR and effect.value.kind is Kind.LIST:
        return _of_list(effect) if isinstance(effect.node, ast.AugAssign) and adds(effect.node) else ""
    if effect.how in _REBINDS:
        return _of_rebinding(region, effect)
    if effect.how is Change.METHOD:
        held = held_at(region, effect.place)
        seen = (one for one in held.alternatives() if one.heap is not None) if held is not None else ()
        is_list = any(one.kind is Kind.LIST for one in seen)  # and not just called as one
        return _of_list(effect) if is_list and effect.what in _LENGTHENING else ""
    return _of_entry(region, effect) if effect.how is Change.ITEM else ""


def _may_not_run(region: Interpreted, effect: Effect) -> bool:
    """Whether a change stands in a loop that ends by itself: `while len(cache) < n: cache.append(...)`."""
    module = region.machine.project.module(effect.path)
    around = roots.function_around(module, effect.node, effect.offset) if module is not None else None
    loops = (one for one in walk(around) if isinstance(one, ast.While)) if around is not None else ()
    return any(inner is effect.node for loop in loops for part in loop.body for inner in walk(part))


def _runs_in_training(region: Interpreted, effect: Effect) -> bool:
    """Whether all that decides on a change is the mode of a module, which is that of training as far as calls tell."""
    module = region.machine.project.module(effect.path)
    around = roots.function_around(module, effect.node, effect.offset) if module is not None else None
    if around is None or not training_modes.may_train(region):
        return False
    asked = {seen.effect.node for seen in region.observed(Event.MODE)}
    holding = [one for one in walk(around) if isinstance(one, ast.If) and holds(one.body, effect.node)]
    chosen = any(isinstance(one, ast.If) and holds(one.orelse, effect.node) for one in walk(around))
    return bool(holding) and not chosen and all(one.test in asked for one in holding)


def _of_list(effect: Effect) -> str:
    """A list to which an entry is added, or those of another list."""
    heap = effect.value.heap if effect.how is Change.OPERATOR else None
    entry = heap.element if heap is not None and heap.element is not None else effect.value
    return "list of tensors" if entry.is_tensor else "list of numbers"


def _of_rebinding(region: Interpreted, effect: Effect) -> str:
    value, itself = effect.value, effect.place in {one.place for one in guarded.inputs(effect.value)}
    if value.kind in TENSORS:
        return "tensor counter" if itself else "last tensor"
    if not itself:
        return ""
    if value.kind is Kind.BOOL:
        return "toggle"
    if value.kind is Kind.NUMBER:
        return ("int counter" if _counts(region, effect) else "") if value.is_whole else "float sum"
    return ""


def _counts(region: Interpreted, effect: Effect) -> bool:
    """Whether a statement adds to a number: `step += 1`, `seen += x.shape[0]`."""
    module = region.machine.project.module(effect.path)
    around = roots.function_around(module, effect.node, effect.offset) if module is not None else None
    if around is None:
        return False
    for node in walk(around):
        if isinstance(node, ast.AugAssign) and effect.node in (node, node.target):
            return isinstance(node.op, (ast.Add, ast.Sub))
        if isinstance(node, ast.Assign) and effect.node in (node, *node.targets):
            return step_of(None, node) is not None or _is_sum_with(node, source(around, node.value))
    return False


def _is_sum_with(node: ast.Assign, value: ast.expr) -> bool:
    """Whether an attribute is set to itself and something else: `end = self.size + n; self.size = end`."""
    sides = (value.left, value.right) if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add) else ()
    steps = [steps_of(target) for target in node.targets]
    return any(steps_of(side) in steps for side in sides if isinstance(side, (ast.Name, ast.Attribute)))


def _of_entry(region: Interpreted, effect: Effect) -> str:
    """An entry of a dictionary is set: a new one at the first call only, or under a key that the others tell."""
    if effect.entries:
        held = held_at(region, effect.place)
        is_empty = held is not None and held.kind is Kind.DICT and held.heap is not None and not held.heap.items
        return "one key" if is_empty else ""
    node = effect.node
    return "dict" if isinstance(node, ast.Subscript) and _counts_entries(node) else ""


def _counts_entries(node: ast.Subscript) -> bool:
    """Whether the key follows from how many entries there are: `metrics[f"norm{len(metrics)}"]`."""
    held = steps_of(node.value)
    calls = (inner for inner in walk(node.slice) if isinstance(inner, ast.Call) and len(inner.args) == 1)
    return any(getattr(call.func, "id", "") == "len" and steps_of(call.args[0]) == held != () for call in calls)
