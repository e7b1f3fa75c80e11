"""State that crosses between a compiled region and the marked functions it calls (NST206), or that both read (NST105).

Dynamo keeps what a region writes to itself until the region ends, and a body runs while the region is traced: neither
sees what the other wrote in the same call. What counts is the order of a write and of a call within the region.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Change, Event, Read
from nonstrict.facts.steps import may_meet
from nonstrict.facts.walk import walk
from nonstrict.findings import Related
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.domain.access_paths import NOWHERE, VIEW, AccessPath, Root
from nonstrict.program.domain.values import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.definitions import Mark, Passed
    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.program.state.machine import Machine

#: Changes that Dynamo carries over to the code behind the call: measured on 2.13.
_CARRIED_OVER = frozenset({Change.NAME, Change.ATTRIBUTE})


def written_before(machine: Machine, mark: Mark, place: AccessPath, torch: tuple[int, int]) -> tuple[Related, ...]:
    """Where a region that calls a marked function writes, before the call, what the body reads at `place`."""
    found: list[Related] = []
    for region, call in calls(machine, mark, torch):
        read = _in_region(call.effect, mark, place)
        found += (
            Related(seen.effect.span, f"`{region.function}` writes it here, before {_which(seen, call)}")
            for seen in region.seen_by_others(Event.WRITE, Event.LEAK, Event.TENSOR_WRITE)
            if _meets(seen.effect, read) and (_precedes(seen, call) or _repeated(region, seen, call))
        )
    return tuple(dict.fromkeys(found))


def _precedes(write: Observed, call: Observed) -> bool:
    return _position(write) < _position(call)


def _which(write: Observed, call: Observed) -> str:
    return "the call" if _precedes(write, call) else "the next call in the loop"


def _repeated(region: Interpreted, write: Observed, call: Observed) -> bool:
    """Whether a loop of the region's function holds both: then a write after the call comes before the next one."""
    function = region.mark.function
    if function is None:
        return False
    lines = {_position(seen)[0][0] - function.offset for seen in (write, call)}
    loops = (node for node in walk(function.node) if isinstance(node, (ast.For, ast.While)))
    return any(all(loop.lineno <= line <= (loop.end_lineno or line) for line in lines) for loop in loops)


def read_after(machine: Machine, mark: Mark, write: Effect, torch: tuple[int, int]) -> tuple[Related, ...]:
    """Where a region that calls a marked function reads, after the call, what the body wrote."""
    carried = mark.operator is None and write.how in _CARRIED_OVER
    if carried or not write.place.captured:
        return ()
    found: list[Related] = []
    for region, call in calls(machine, mark, torch):
        found += (
            Related(seen.effect.span, f"`{region.function}` reads it here, after the call")
            for seen in region.seen_by_others(Event.READ)
            if _position(seen) > _position(call) and _meets(write, seen.effect.place)
        )
    return tuple(dict.fromkeys(found))


def guarded(machine: Machine, mark: Mark, place: AccessPath, torch: tuple[int, int]) -> bool:
    """Whether each region that calls a marked function reads the same state of a module: then Dynamo guards it."""
    found = list(calls(machine, mark, torch))
    return bool(found) and all(
        any(
            seen.effect.place == _in_region(call.effect, mark, place)
            for seen in region.seen_by_others(Event.ATTRIBUTE, Event.READ)
        )
        for region, call in found
    )


def _read_by(region: Interpreted) -> Iterator[Effect]:
    return (seen.effect for seen in region.seen_by_others(Event.READ))


def reads_state(machine: Machine, mark: Mark, place: AccessPath, torch: tuple[int, int]) -> bool:
    """Whether each region that calls a marked function reads what lives at a captured place, itself or in a helper."""
    found = list(calls(machine, mark, torch))
    return bool(found) and all(
        any(one.place == place and one.how is not Read.IDENTITY for one in _read_by(region)) for region, _ in found
    )


def reads_mode(machine: Machine, mark: Mark, torch: tuple[int, int]) -> bool:
    """Whether each region that calls a marked function asks a module for its mode, itself or through a layer."""
    found = list(calls(machine, mark, torch))
    return bool(found) and all(any(True for _ in region.seen_by_others(Event.MODE)) for region, _ in found)


def calls(machine: Machine, mark: Mark, torch: tuple[int, int]) -> Iterator[tuple[Interpreted, Observed]]:
    """The calls of a marked function in the regions of its own module and of those that were seen to call it."""
    paths = {mark.path, *(call.path for call in mark.calls)}
    for region in list(machine.regions.values()):
        if region.function.module.path in paths and region.target.kind is not Kind.MARKED:
            compiled = machine.part(Regions).of(machine, region, torch)
            for seen in compiled.seen_by_others(Event.CALLED):
                called = seen.effect.value.mark
                if called is None:
                    continue
                if called is mark or (called.function is not None and called.function is mark.function):
                    yield compiled, seen


def _position(seen: Observed) -> tuple[tuple[int, int], ...]:
    """Where in the region's own function something happens, or is called that does it; then where in what is called."""
    spans = (*(edge.span for edge in seen.chain), seen.effect.span)
    return tuple((span.line, span.column) for span in spans)


def _in_region(call: Effect, mark: Mark, place: AccessPath) -> AccessPath:
    """What the region calls a place of the body: attributes of module arguments live on what the region passes."""
    if place.root is not Root.ARGUMENT or mark.function is None:
        return place
    arguments = mark.function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    given: Passed = call.value.const
    positional = given.positional if given.receiver is None else (given.receiver, *given.positional)
    passed = {**dict(zip(names, positional, strict=False)), **given.keywords}.get(place.name)
    if passed is None or passed.kind is not Kind.MODULE:
        return NOWHERE
    return AccessPath(passed.place.root, passed.place.owner, passed.place.name, (*passed.place.path, *place.path))


def _meets(write: Effect, read: AccessPath) -> bool:
    return any(_same(changed, read) for changed in write.changed)


def _same(written: AccessPath, read: AccessPath) -> bool:
    """Whether one place is the other or holds it."""
    if written[:3] != read[:3] or not (written.captured or written.path):
        return False
    changed, asked = ([step for step in place.path if step != VIEW] for place in (written, read))
    if changed[-1:] == asked[-1:] == [".training"]:
        # A mode is handed down to the submodules.
        changed, asked = changed[:-1], asked[:-1]
    return may_meet(changed, asked)
