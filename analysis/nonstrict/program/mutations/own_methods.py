"""Methods of the program that have the name of one that changes a container: what they change, their bodies tell."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import is_namespace
from nonstrict.program.domain.access_paths import VIEW, Root
from nonstrict.program.domain.definitions import Function
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import Kind
from nonstrict.program.mutations.found_writes import FoundWrites
from nonstrict.program.mutations.indirect import interpreted
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.domain.values import Value
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine

_CHANGES = frozenset({Event.WRITE, Event.LEAK, Event.TENSOR_WRITE, Event.INPUT_WRITE})
#: These switch the mode, whatever a class adds to that.
_OF_MODE = frozenset({"train", "eval"})
#: Bases that hold nothing that their methods change.
_PLAIN = ("abc.", "typing.", "builtins.object", "torch.nn.")


def resolved(machine: Machine, held: Value, writes: Iterable[Write]) -> Iterator[Write]:
    """The writes of what a name holds; in place of a call of a method of the program stands what that changes."""
    for write in writes:
        methods = _methods(machine, held, write)
        if not methods:
            yield write
        holder = write.steps if isinstance(write.node, ast.Call) else write.steps[:-1]
        for method in methods:
            for path in changes_by(machine, method):
                yield write._replace(steps=(*holder, *path))


def is_own(machine: Machine, held: Value, write: Write) -> bool:
    """Whether a write is a call of a method that the program defines."""
    return bool(_methods(machine, held, write))


def changes_by(machine: Machine, method: Function) -> tuple[tuple[str, ...], ...]:
    """The steps that lead from its receiver to what a method changes; interpreted once."""
    known = machine.part(FoundWrites).changes
    if method not in known:
        known[method] = ()
        known[method] = tuple(_changes_by(machine, method))
    return known[method]


def _changes_by(machine: Machine, method: Function) -> Iterable[tuple[str, ...]]:
    owner = method.owner
    if owner is None or not isinstance(method.node, ast.FunctionDef):
        return ()
    summary = interpreted(machine, method.module, method.node, method.offset, owner)
    found: dict[tuple[str, ...], None] = {}
    for seen in reachable(summary):
        for effect in seen.summary.effects.values():
            if effect.event in _CHANGES and not effect.lazy and effect.place[:3] == (Root.ARGUMENT, "", "self"):
                found.update({tuple(step for step in place.path if step != VIEW): None for place in effect.changed})
    return found


def _methods(machine: Machine, held: Value, write: Write) -> list[Function]:
    """The methods that a call, or what is assigned to a property, may run, if all of them are the program's."""
    if not isinstance(write.node, ast.Call):
        return _setters(machine, held, write)
    call = write.node.func
    if not isinstance(call, ast.Attribute) or call.attr in _OF_MODE or is_namespace(call.value):
        return []
    found: list[Function] = []
    for one in at(held, write.steps):
        cls = one.of_class if one.kind in (Kind.OBJECT, Kind.MODULE) else None
        member = classes.member(machine, cls, call.attr) if cls is not None and _is_plain(cls) else None
        if member is None or member[0].function is None:
            return []
        found.append(member[0].function)
    return found


def _setters(machine: Machine, held: Value, write: Write) -> list[Function]:
    name = write.attribute
    if not write.steps or write.steps[-1] != f".{name}":
        return []
    setters = [classes.setter_of(machine, one, name) for one in at(held, write.steps[:-1])]
    bound = [setter.bound.function for setter in setters if setter is not None and setter.bound is not None]
    found = [function for function in bound if isinstance(function, Function)]
    return found if len(found) == len(setters) else []


def at(held: Value, steps: Sequence[str]) -> list[Value]:
    """What some steps lead to, apart from None; nothing where that is not known."""
    value: Value | None = held
    for step in steps:
        value = value.heap.step(step) if value is not None and value.heap is not None else None
    return [one for one in value.alternatives() if one.kind is not Kind.NONE] if value is not None else []


def _is_plain(cls: Class) -> bool:
    return all(base.startswith(_PLAIN) for base in classes.external_bases(cls))
