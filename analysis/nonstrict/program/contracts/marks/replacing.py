"""Calls of regions through a name, an attribute or an entry that holds one marked function after the other.

Tracing a region tells at which place it found what it calls, and the writes of that place what is there later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import may_meet
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.marks.identity import Identity, identity
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Kind
from nonstrict.program.mutations import placing
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.domain.values import Value
    from nonstrict.program.mutations.placing import Placed
    from nonstrict.program.state.machine import Machine


def calls_through_globals(machine: Machine, mark: Mark) -> Iterator[tuple[str, int, ast.AST]]:
    """The calls of regions that reach a marked function at a place of a global, and another one there later."""
    for region in list(machine.regions.values()):
        if region.target.kind is Kind.MARKED:
            continue
        compiled = machine.part(Regions).of(machine, region, machine.torch)
        for seen in compiled.seen_by_others(Event.CALLED):
            place = seen.effect.value.place
            if place.root is Root.GLOBAL and identity(mark).key in {one.key for one in replaced(machine, place)}:
                yield seen.effect.path, seen.effect.offset, seen.effect.node


def replaced(machine: Machine, place: AccessPath) -> set[Identity]:
    """What tells the marked functions apart of which one is put at a place once another was there; none if none is."""
    placed = [one for one in placing.at(machine, place) if len(one.steps) == len(place.path)]
    found = set[Identity]()
    for later in placed:
        if later.write.building:
            continue
        before = list(_before(machine, place, later, placed))
        there = {one for value in (later.value, *before) for one in _identities(value)}
        if len(there) > 1 or (later.again and any(one.open for one in there)):
            found |= there
    return found


def _before(machine: Machine, place: AccessPath, later: Placed, placed: Sequence[Placed]) -> Iterator[Value]:
    """What lies, before something is put there, where that is put: what the program put there last, or made it with."""
    others = [one for one in placed if one is not later and may_meet(one.steps, later.steps)]
    yield from (one.value for one in others)
    if not any(one.write.building for one in others):
        yield from _made_with(machine, place, later.steps)


def _made_with(machine: Machine, place: AccessPath, steps: Sequence[str]) -> Iterable[Value]:
    """What some steps lead to from a global, where nothing puts something there."""
    module = machine.project.module(place.file)
    found = list(machine.global_value(module, place.name).alternatives()) if module is not None else []
    for step in steps:
        found = [value for one in found for value in _step(machine, one, step)]
    return found


def _step(machine: Machine, holder: Value, step: str) -> Iterator[Value]:
    heap = holder.heap
    held = heap.attributes.get(step[1:]) if heap is not None and step.startswith(".") else None
    if held is None and step.startswith(".") and holder.of_class is not None:
        member = classes.member(machine, holder.of_class, step[1:])
        held = member[0] if member is not None else None
    if held is not None:
        yield from held.alternatives()
    if heap is not None and step.startswith("["):
        entries = [value for key, value in heap.items.items() if may_meet((f"[{key!r}]",), (step,))]
        for value in [*entries, *([heap.loose] if heap.loose is not None else [])]:
            yield from value.alternatives()


def _identities(value: Value) -> Iterator[Identity]:
    for one in value.alternatives():
        if one.mark is not None and one.mark.kind == "nonstrict":
            yield identity(one.mark)
