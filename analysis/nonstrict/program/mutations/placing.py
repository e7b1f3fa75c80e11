"""What a program puts at a place that a global leads to: under a name, an attribute, or the key of a table.

Where something is put, `writes` tells. What it is, the interpreter tells: the function or statement that stores it is
interpreted, for each of its calls that were seen by itself. What is put back before it ends counts for nothing.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Change, Event
from nonstrict.facts.steps import ANY_ENTRY, may_meet
from nonstrict.facts.walk import walk
from nonstrict.program.discovery import callers, roots
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.interpret.rounds import varies_in_loop
from nonstrict.program.mutations import indirect, writes
from nonstrict.program.objects import definition_values, naming

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.domain.effects import Effect, Summary
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine, StaticCall

#: More places that put something there, and more calls of a function that does, tell nothing new.
_MAX_WRITES = 12
_MAX_CALLS = 6
_STORES = frozenset({Event.WRITE, Event.LEAK})


class Placed(NamedTuple):
    """What is put somewhere: by which steps from the global, whether a loop gives it another value each time."""

    value: Value
    steps: tuple[str, ...]
    write: Write
    again: bool = False


@dataclass(eq=False)
class _Found:
    """What the program puts at any place, once it was asked for."""

    placed: dict[AccessPath, tuple[Placed, ...]] = field(default_factory=dict)


def at(machine: Machine, place: AccessPath) -> tuple[Placed, ...]:
    """What the program puts at a place, or at what holds it, before something compiled runs and later; found once."""
    known = machine.part(_Found).placed
    if place not in known:
        known[place] = ()
        known[place] = tuple(_find(machine, place))
    return known[place]


def stored_by(machine: Machine, write: Write) -> Iterator[Placed]:
    """What a write puts where it does, once for each call of the function around it that was seen."""
    module = machine.project.module(write.path)
    if module is None:
        return
    line = getattr(write.node, "lineno", 0) + write.offset
    for node, offset in roots.around(module, line):
        if any(inner is write.node for inner in walk(node)):
            yield from _stored_within(machine, module, node, offset, write)


def _find(machine: Machine, place: AccessPath) -> Iterator[Placed]:
    found = writes.changes(machine, place) if place.root is Root.GLOBAL else []
    for write in found[:_MAX_WRITES]:
        told = [Placed(one, write.steps, write) for one in write.held] or stored_by(machine, write)
        yield from (one for one in told if _leads_to(one.steps, place))


def _leads_to(steps: tuple[str, ...], place: AccessPath) -> bool:
    """Whether what is put somewhere is, or holds, what lies at a place."""
    return len(steps) <= len(place.path) and may_meet(steps, place.path)


def _stored_within(machine: Machine, module: Module, node: ast.AST, offset: int, write: Write) -> Iterator[Placed]:
    if isinstance(node, ast.FunctionDef):
        yield from _in_function(machine, module, node, offset, None, write)
    elif isinstance(node, ast.ClassDef):
        owner = definition_values.class_of(machine.module_frame(module), node, offset)
        for method in node.body:
            if isinstance(method, ast.FunctionDef) and any(inner is write.node for inner in walk(method)):
                yield from _in_function(machine, module, method, offset, owner, write)
    elif isinstance(node, ast.stmt):
        found = list(_effects(indirect.executed(machine, module, node), write))
        yield from _placed(machine, found, write, node, None)
        if not found and write.value is not None and not write.steps:
            value = machine.evaluate(machine.module_frame(module), write.value)
            yield Placed(value, (), write, varies_in_loop(node, write.node, write.value))


def _in_function(
    machine: Machine, module: Module, node: ast.FunctionDef, offset: int, owner: Class | None, write: Write
) -> Iterator[Placed]:
    function = definition_values.function_of(machine.module_frame(module), node, offset, owner)
    roots.find_calls(machine, module, callers.aliases(function))
    calls = machine.static_calls.get(node, [])[:_MAX_CALLS]
    for call in calls or [None]:
        given = _given(function, call) if call is not None else {}
        summary = indirect.interpreted(machine, module, node, offset, owner, given=given)
        for one in _placed(machine, list(_effects(summary, write)), write, node, function):
            yield one._replace(again=one.again or (call is not None and _varies(call)))


def _given(function: Function, call: StaticCall) -> dict[str, Value]:
    """By parameter what a call passes, but not the object whose method is called."""
    _, _, positional, keywords = call
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    given = {**dict(zip(names, positional, strict=False)), **keywords}
    return {name: value for name, value in given.items() if function.owner is None or name != names[0]}


def _varies(call: StaticCall) -> bool:
    """Whether a loop around a call passes other values each time."""
    frame, node, *_ = call
    around = naming.text_of(frame)
    return isinstance(node, ast.expr) and varies_in_loop(around, node, node)


def _effects(summary: Summary, write: Write) -> Iterator[Effect]:
    within = set(map(id, walk(write.node)))
    for effect in summary.effects.values():
        if effect.event in _STORES and not effect.lazy and id(effect.node) in within and not indirect.resizes(effect):
            yield effect


def _placed(
    machine: Machine, effects: list[Effect], write: Write, around: ast.AST, function: Function | None
) -> Iterator[Placed]:
    stored = write.value
    again = stored is not None and varies_in_loop(around, write.node, stored)
    for effect in effects:
        value = callers.resolved(machine, effect.value, function)
        for changed in effect.changed:
            steps = changed.path if effect.entries or effect.how is not Change.ITEM else (*changed.path, ANY_ENTRY)
            yield from (Placed(one, steps, write, again) for one in value.alternatives())
