"""What the program writes between two calls of a region: in a loop around both, or in a function that calls it."""

from __future__ import annotations

import ast
from math import prod
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts import succession
from nonstrict.facts.resuming import end_of
from nonstrict.facts.scopes import parameter_names
from nonstrict.facts.steps import ANY_ENTRY, steps_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge import guards
from nonstrict.program.contracts.boundary import repeated, varying
from nonstrict.program.contracts.boundary.varying import drops
from nonstrict.program.contracts.regions import calls as calls_of_region
from nonstrict.program.discovery import callers, roots
from nonstrict.program.discovery.sites import Passing
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.constant_folding import key_of
from nonstrict.program.domain.effects import span_of
from nonstrict.program.domain.values import any_of_kind
from nonstrict.program.interpret.makers import in_words_of_call
from nonstrict.program.interpret.rounds import ADDING, MANY, SOME, holds, in_rounds, over, rounds, turns
from nonstrict.program.interpret.stepping import may_return, number_made, step_of
from nonstrict.program.mutations import evidence, writes
from nonstrict.program.objects import naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Span
    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine, StaticCall

#: How many functions lie between a loop and the call of a region, or a write, at most.
_HOPS = 3
_LOOPS = (ast.For, ast.AsyncFor, ast.While)


class Written(NamedTuple):
    """A write between calls: what it puts there, as far as known, and how many `more` values there are than that.

    Two that are the same `over` what loops go through put the same values there.
    """

    span: Span
    values: tuple[Value, ...]
    more: int = 0
    over: str = ""


class _Site(NamedTuple):
    """Where something runs: an expression or statement, and the function or module text that holds it."""

    frame: Frame | None
    scope: ast.AST
    node: ast.AST


class _Between(NamedTuple):
    """A write that lies between two calls: where it stands, in which function, in how many rounds of a loop.

    `counted` are the rounds of all loops around one another. `each` says that only few calls lie between two of it,
    `is_open` that who calls the function is not known.
    """

    write: Write
    here: _Site
    function: Function | None
    repeated: int
    counted: int
    each: bool
    is_open: bool


def written(region: Interpreted, place: AccessPath) -> list[Written]:
    """The writes of what lives at a place, outside the region, that lie between calls of it, as far as known."""
    lying = list(_between(region, place))
    found = (_read(region.machine, one) for one in lying if not _starts_over(one, lying))
    return [one for one in found if one is not None]


def growing(region: Interpreted, place: AccessPath) -> tuple[int, tuple[Span, ...]]:
    """How often the container at a place is made longer between calls, and where; 0 if it is changed otherwise too."""
    lying = list(_between(region, place))
    inside = [edge.summary.definition for edge in region.summary.calls.values()]  # what the region runs itself
    lying = [one for one in lying if one.function is None or one.function not in inside]
    longer = [one for one in lying if one.repeated and isinstance(one.write.node, ast.Call) and adds(one.write.node)]
    if not longer or len(longer) < len(lying):
        return 0, ()
    spans = tuple(span_of(one.write.path, one.write.offset, one.write.node) for one in longer)
    return max(min(one.counted, one.repeated) for one in longer), spans


def is_set_anew(region: Interpreted, place: AccessPath) -> bool:
    """Whether what lives at a place is set anew outside of the region in front of every call, or every few."""
    return any(one.each and not adds(one.write.node) for one in _between(region, place))


def is_forgotten(region: Interpreted) -> bool:
    """Whether torch is told between calls of a region to forget what it compiled."""
    sites = _around_calls(region.machine, calls_of_region.of(region), _HOPS)
    return any(site.frame is not None and drops(site.frame) for site in sites)


def _between(region: Interpreted, place: AccessPath) -> Iterator[_Between]:
    machine, function = region.machine, region.mark.function
    if function is None:
        return
    calls = frozenset(site.node for site in _sites_of(machine, function, _HOPS))
    own = {*walk(function.node), *(seen.effect.node for seen in region.observed(Event.WRITE, Event.LEAK))}
    for write in _changes(region, place):
        if not write.building and own.isdisjoint(walk(write.node)):
            found = _lying(machine, calls, write)
            if found is not None:
                yield found


def _changes(region: Interpreted, place: AccessPath) -> list[Write]:
    if place.captured and not (place.root is Root.RECEIVER and not place.owner):
        return writes.changes(region.machine, place)
    function, name = region.mark.function, region.parameter_at(place)
    is_entry = bool(place.path) and all(step.startswith("[") and step != ANY_ENTRY for step in place.path)
    if function is not None and is_entry:
        return list(dict.fromkeys(_changes_of_passed(region.machine, function, name, place.path, _HOPS)))
    owners = region.owners_at(place)
    return (evidence.changes_of_part if None in owners else evidence.argument_changes)(region.machine, place, owners)


def _changes_of_passed(
    machine: Machine, function: Function, name: str, path: tuple[str, ...], hops: int
) -> Iterator[Write]:
    """Changes of entries of what calls of a function pass: of a variable those that lie between calls with it."""
    callers.calls_of_function(machine, function)  # looks for them
    passed = list(varying.given_expressions(machine, function, name))
    for frame, _, expression in passed:
        root, *steps = steps_of(expression) or ("",)
        around, outer = naming.text_of(frame), frame.function
        given = outer if outer is not None and root in parameter_names(outer.node.args) else None
        held, full = frame.machine.evaluate(frame, expression).place, (*steps, *path)
        if held.captured and held.seen_as is held.root and given is None:
            yield from writes.changes(machine, held._replace(path=(*held.path, *path)))
            continue
        calls = [call for there, call, one in passed if there.function is outer and steps_of(one)[:1] == (root,)]
        found = writes.writes_within(frame.module.path, frame.offset, around, root)
        for write in machine.mutations.seen_through(found):
            if write.steps == full and (given or _is_amid(around, write.node, calls)):
                yield write
        if given is not None and hops:
            yield from _changes_of_passed(machine, given, root, full, hops - 1)


def _is_amid(around: ast.AST, node: ast.AST, calls: list[ast.Call]) -> bool:
    """Whether something stands between some calls: in a loop around one, or behind one and in front of another."""
    loops = (loop for loop in walk(around) if isinstance(loop, _LOOPS) and in_rounds(loop, node))
    if any(in_rounds(loop, call) for loop in loops for call in calls):
        return True
    ends = [end_of(call) for call in calls]
    return min(ends) < end_of(node) < max(ends)


def _sites_of(machine: Machine, function: Function, hops: int) -> Iterator[_Site]:
    """The calls of a function that were seen, and those of the functions that make them."""
    return _around_calls(machine, callers.calls_of_function(machine, function), hops)


def _around_calls(machine: Machine, calls: list[StaticCall], hops: int) -> Iterator[_Site]:
    """Some calls, and those of the functions that make them."""
    known = set[ast.AST]()
    for _ in range(hops):
        level: list[Function] = []
        for frame, node, _, _ in calls:
            outer = frame.function
            yield _Site(frame, outer.node if outer is not None else frame.module.outline.shell, node)
            if outer is not None and outer.node not in known:
                known.add(outer.node)
                level.append(outer)
        calls = [call for one in level for call in callers.calls_of_function(machine, one)]


def _lying(machine: Machine, calls: frozenset[ast.AST], write: Write) -> _Between | None:
    """A write as one between two calls; None where it is not seen to be that."""
    module = machine.project.module(write.path)
    if module is None:
        return None
    here, function = _place_of(machine, module, write)
    sites = [here, *(_sites_of(machine, function, _HOPS - 1) if function is not None else ())]
    around = [(site, loop) for site in sites for loop in _around(site, calls)]
    times = {(site.node, loop): _times(site, loop) for site, loop in around}
    repeated = max(times.values(), default=0)
    together = [prod(times[site.node, loop] for one, loop in around if one is site) for site in sites]
    counted = together[0] * max(together[1:], default=1)
    if not repeated and not any(_follows(machine, site, calls) for site in sites):
        return None
    # Who calls the function that counts and runs the region is not known: it is not written to be called once.
    is_open = function is not None and not any(site.frame for site in sites[1:])
    limit = guards.limit(machine.torch)
    each = any(_holds_few(site.frame, loop, calls, limit) for site, loop in around)
    return _Between(write, here, function, repeated, min(counted, MANY), each, is_open)


def _follows(machine: Machine, site: _Site, calls: frozenset[ast.AST]) -> bool:
    """Whether something that no loop repeats may run behind a call: where it stands before all, it does not."""
    here = [node for node in walk(site.scope) if node in calls]
    return any(succession.stands_behind(site.scope, node, site.node) for node in here) or (
        bool(here) and not _runs_once(machine, site)
    )


def _runs_once(machine: Machine, site: _Site) -> bool:
    """Whether the text around something is that of a module, or of a function that is called once, outside of loops."""
    function = site.frame.function if site.frame is not None else None
    if function is None:
        return site.frame is not None
    calls = callers.calls_of_function(machine, function)
    if len({id(node) for _, node, _, _ in calls}) != 1:
        return False
    frame, node, _, _ = calls[0]
    outer = frame.function.node if frame.function is not None else frame.module.outline.shell
    return frame.function is None and not any(isinstance(one, _LOOPS) and in_rounds(one, node) for one in walk(outer))


def _times(site: _Site, loop: ast.For | ast.AsyncFor | ast.While) -> int:
    """How often something in a loop happens; under a condition, as far as known: `if step % 100 == 0`."""
    number = repeated.turns(site.frame, loop, MANY)
    tests = [one.test for one in walk(loop) if isinstance(one, ast.If) and holds([one], site.node)]
    recurs = all(
        isinstance(inner.op, ast.Mod) for test in tests for inner in walk(test) if isinstance(inner, ast.BinOp)
    )
    return number if not tests or (number >= MANY and recurs) else min(number, SOME)


def _holds_few(
    frame: Frame | None, loop: ast.For | ast.AsyncFor | ast.While, calls: frozenset[ast.AST], limit: int
) -> bool:
    """Whether a round of a loop calls the region a few times: not in a loop of its own, or in a short one."""
    inner = [one for part in loop.body for one in walk(part) if isinstance(one, _LOOPS)]
    long = [one for one in inner if not SOME < turns(frame, one, MANY) <= limit]
    inside = {node for part in loop.body for node in walk(part) if node in calls}
    return any(not any(holds(one.body, node) for one in long) for node in inside)


def _starts_over(step: _Between, lying: list[_Between]) -> bool:
    """Whether what counts is set to something else in the rounds in which it counts."""
    if step_of(step.here.frame, step.write.node) is None:
        return False
    others = [one.write.node for one in lying if step_of(one.here.frame, one.write.node) is None]
    loops = [loop for loop in walk(step.here.scope) if isinstance(loop, _LOOPS) and holds(loop.body, step.write.node)]
    inner = next((loop for loop in loops if not any(holds(loop.body, other) for other in loops)), step.here.scope)
    return any(node in others for node in walk(inner))


def _read(machine: Machine, one: _Between) -> Written | None:
    """What a write puts between two calls; None where nothing is known of it."""
    write, here, function = one.write, one.here, one.function
    span = span_of(write.path, write.offset, write.node)
    if (step := step_of(here.frame, write.node)) is not None:
        number = one.counted if one.repeated else (MANY if one.is_open else 0)
        number = min(number, SOME) if may_return(here.frame, step, _repeated_with(here)) else number
        return Written(span, (number_made(here.frame, step),), number)
    put = write.value or _target(write.node)
    if here.frame is None or put is None:
        return None
    put = in_words_of_call(here.frame, put)
    value = machine.evaluate(here.frame, put)
    passing = Passing(here.frame, write.node, value, put)
    # Of a loop in which the region is not called, it gets what the last round leaves.
    if more := min(rounds(here.frame, write.node, put, MANY), one.repeated or 1):
        values = tuple(map(any_of_kind, varying.handed(machine, [passing])))
        return Written(span, values, more, over(here.frame, write.node, put))
    if key_of(value) is not None:
        return Written(span, (value,))
    return _handed(machine, function, write) or _made(machine, passing, span)


def _repeated_with(here: _Site) -> list[ast.AST]:
    """What runs each time that something does: the loops around it, or all of its function."""
    loops = [one for one in walk(here.scope) if isinstance(one, _LOOPS) and in_rounds(one, here.node)]
    return [node for one in loops or [here.scope] for node in walk(one)]


def _target(node: ast.AST) -> ast.expr | None:
    """What a loop gives a value in each round."""
    return node if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Store) else None


def _made(machine: Machine, passing: Passing, span: Span) -> Written | None:
    """A write of what is made anew in each call of the function that writes it."""
    number = repeated.times(machine, passing, MANY)
    return Written(span, (any_of_kind(repeated.value_made(machine, passing)),), number) if number else None


def _handed(machine: Machine, function: Function | None, write: Write) -> Written | None:
    """A write of what the function is given that writes it, as far as its calls tell."""
    name = write.value.id if isinstance(write.value, ast.Name) else ""
    if function is None or name not in parameter_names(function.node.args):
        return None
    span = span_of(write.path, write.offset, write.node)
    values = varying.handed(machine, callers.passings(machine, function, name))
    if all(key_of(value) is not None for value in values):
        return Written(span, tuple(values)) if values else None
    return Written(span, tuple(values), varying.count(machine, function, name, counting=MANY))


def _place_of(machine: Machine, module: Module, write: Write) -> tuple[_Site, Function | None]:
    """Where a write stands, and the function that holds it; None for one at the top level of a module."""
    around = roots.function_around(module, write.node, write.offset)
    if around is None:
        return _Site(machine.module_frame(module), module.outline.shell, write.node), None
    function = next((one for one in machine.functions.values() if one.node is around), None)
    frame = machine.static_frame(function) if function is not None else None
    return _Site(frame, around, write.node), function


def _around(site: _Site, calls: frozenset[ast.AST]) -> Iterator[ast.For | ast.AsyncFor | ast.While]:
    """The loops around something in whose rounds the region is called."""
    for loop in walk(site.scope):
        if not isinstance(loop, _LOOPS) or not in_rounds(loop, site.node):
            continue
        if any(node in calls for part in loop.body for node in walk(part)):
            yield loop


def adds(node: ast.AST) -> bool:
    """Whether a change goes on from what was there."""
    method = node.func.attr if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else ""
    added = isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add)
    return added or method in ADDING or step_of(None, node) is not None
