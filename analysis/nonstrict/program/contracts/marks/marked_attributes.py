"""Attributes that hold one of several marked functions: a region that calls such an attribute may reach any of them.

Tracing a region tells which attributes of what it is given it calls. The calls of the region tell which objects that
are, and for a method the constructions of its class.
"""

from __future__ import annotations

import ast
import itertools
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.events import Event
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.walk import walk
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.discovery import callers, constructions, run_once
from nonstrict.program.domain.access_paths import NOWHERE, Root
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import NO_CONSTANT, Kind, Value
from nonstrict.program.mutations import attribute_writes
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nonstrict.program.contracts.interpreted import Interpreted
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class, Function, Mark
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine


class Holder(NamedTuple):
    """An object that a region is given: the classes on the way to it, what its attribute holds, its constants."""

    way: tuple[Class, ...]
    marks: frozenset[Mark]
    settings: dict[str, object]


def calls_through_attributes(machine: Machine, mark: Mark) -> Iterator[tuple[str, int, ast.AST]]:
    """The calls `layer.fn(x)` of regions that reach a marked function in one object, another in others, or later."""
    for region in list(machine.regions.values()):
        if region.target.kind is Kind.MARKED:
            continue
        compiled = machine.part(Regions).of(machine, region, machine.torch)
        for seen in compiled.seen_by_others(Event.CALLED):
            place = seen.effect.value.place
            if place.root is not Root.ARGUMENT or not place.path[-1:] or not place.path[-1].startswith("."):
                continue
            if any(_holds(marks, mark) for marks in _confused(machine, compiled, region.function, place)):
                yield seen.effect.path, seen.effect.offset, seen.effect.node


def _confused(machine: Machine, compiled: Interpreted, region: Function, place: AccessPath) -> Iterator[set[Mark]]:
    """The marked functions that a place of a region may lead to, where nothing else that it reads tells them apart."""
    read = _attributes_read(compiled, region)
    attribute = place.path[-1][1:]
    by_way: dict[tuple[Class, ...], list[Holder]] = {}
    for holder in _holders(machine, compiled, region, place):
        by_way.setdefault(holder.way, []).append(holder)
    for way, holders in by_way.items():
        later = _put_later(machine, way[-1], attribute)
        for one, other in itertools.combinations_with_replacement(holders, 2):
            marks = one.marks | other.marks | later
            if len(set(map(_identity, marks))) > 1 and (later or one is other or _are_alike(one, other, read)):
                yield set(marks)


def _put_later(machine: Machine, cls: Class, attribute: str) -> set[Mark]:
    """What replaces the marked function that an attribute holds, with those that the constructor may put there."""
    writes = attribute_writes.of_class(machine, cls, attribute)
    later = {mark for write in writes for mark in _marks(_written(machine, write))}
    return later.union(_marks(classes.template(machine, cls).attributes.get(attribute))) if later else later


def _are_alike(one: Holder, other: Holder, read: set[str]) -> bool:
    """Whether Dynamo sees no difference between two objects in what a region reads of them."""
    return all(
        one.settings[name] == other.settings[name] for name in read & one.settings.keys() & other.settings.keys()
    )


def _attributes_read(compiled: Interpreted, region: Function) -> set[str]:
    """The names of the attributes that are read in what a region runs itself."""
    definitions = (part.summary.definition for part in reachable(compiled.summary))
    nodes = {one.node for one in (region, *definitions) if one is not None}
    return {inner.attr for node in nodes for inner in walk(node) if isinstance(inner, ast.Attribute)}


def _holders(machine: Machine, compiled: Interpreted, region: Function, place: AccessPath) -> Iterator[Holder]:
    """The objects that hold what a place of a region leads to.

    Those are objects that its calls pass; for a method also those whose making was seen.
    """
    receiver = compiled.arguments.get(receiver_of(region.node))
    owner = region.owner if receiver is not None and receiver.place.name == place.name else None
    found = constructions.objects(machine, owner) if owner is not None else []
    for passing in callers.passings(machine, region, place.name):
        found += callers.resolved(machine, passing.value, passing.frame.function).alternatives()
    for root in found:
        yield from _led_to(machine, root, place.path)
    if owner is not None and not found:
        yield from _as_given(machine, owner, place.path)


def _as_given(machine: Machine, owner: Class, path: Sequence[str]) -> Iterator[Holder]:
    """What objects hold whose making was not followed: as constructions give it, or as any object has it."""
    found = constructions.constructions(machine, owner, path[0][1:])
    for one in found if len(path) == 1 else ():
        yield Holder((one.cls,), frozenset(_marks(one.value)), {})
    if not found:
        yield from _led_to(machine, classes.instance_at(machine, owner, NOWHERE), path)


def _led_to(machine: Machine, holder: Value, path: Sequence[str], way: tuple[Class, ...] = ()) -> Iterator[Holder]:
    """Where some steps lead from an object."""
    cls = holder.of_class
    way = (*way, cls) if cls is not None else way
    found = holder.heap.step(path[0]) if holder.heap is not None else None
    if found is None or holder.heap is None:
        return
    if not path[1:] and cls is not None:
        held = {name: value.const for name, value in holder.heap.attributes.items() if value.const is not NO_CONSTANT}
        yield Holder(way, _chosen(machine, cls, found), held)
    for one in found.alternatives() if path[1:] else ():
        yield from _led_to(machine, one, path[1:], way)


def _chosen(machine: Machine, cls: Class, value: Value) -> frozenset[Mark]:
    """The marked functions that an object may hold: the only one of its class chooses one of them."""
    marks = list(_marks(value))
    constructor = classes.member(machine, cls, "__init__") if len(marks) > 1 else None
    function = constructor[0].function if constructor is not None else None
    only = function is not None and run_once.runs_once(machine, function)
    return frozenset(marks[:1] if only else marks)


def _holds(marks: Iterable[Mark], mark: Mark) -> bool:
    return _identity(mark) in map(_identity, marks)


def _identity(mark: Mark) -> object:
    """What tells marked functions apart, whichever application of the marker made them."""
    if mark.function is not None:
        return mark.function.node
    return mark.target.ref if mark.target.kind is Kind.EXTERNAL else id(mark)


def _written(machine: Machine, write: Write) -> Value | None:
    """What a write puts into an attribute, as far as names at the top level of its module tell."""
    module = machine.project.module(write.path)
    node = write.node
    value = node.args[2] if isinstance(node, ast.Call) and len(node.args) == 3 else getattr(node, "value", None)
    if module is None or not isinstance(value, (ast.Name, ast.Attribute, ast.Subscript, ast.IfExp, ast.Call)):
        return None
    return machine.evaluate(machine.module_frame(module), value)


def _marks(value: Value | None) -> Iterator[Mark]:
    for one in value.alternatives() if value is not None else ():
        if one.mark is not None and one.mark.kind == "nonstrict":
            yield one.mark
