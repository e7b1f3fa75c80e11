"""Attributes that hold one of several marked functions: a region that calls such an attribute may reach any of them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.walk import walk
from nonstrict.program import classes
from nonstrict.program.marks import constructions
from nonstrict.program.values import Kind, Value
from nonstrict.program.writers import attribute_writes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.definitions import Class, Function, Mark
    from nonstrict.program.machine import Machine
    from nonstrict.program.writers.writes import Write


def calls_through_attributes(machine: Machine, mark: Mark) -> Iterator[tuple[str, int, ast.AST]]:
    """The calls `self.fn(x)` of regions that reach a marked function in one object, and another in another or later."""
    for region in list(machine.regions.values()):
        owner = region.function.owner
        if owner is None:
            continue
        for function, call, attribute in _called_attributes(machine, owner, region.function):
            if any(mark in marks and _differ(marks) for marks in _held(machine, owner, attribute)):
                yield function.module.path, function.offset, call


def _differ(marks: Iterable[Mark]) -> bool:
    return len({id(mark.function.node) if mark.function is not None else id(mark) for mark in marks}) > 1


def _called_attributes(machine: Machine, owner: Class, region: Function) -> Iterator[tuple[Function, ast.Call, str]]:
    """The calls of attributes of `self` in a method and in the methods that it calls."""
    pending, seen = [region], {region.node}
    while pending:
        function = pending.pop()
        receiver = next((one.arg for one in (*function.node.args.posonlyargs, *function.node.args.args)), "")
        for node in walk(function.node):
            callee = node.func if isinstance(node, ast.Call) else None
            if not isinstance(callee, ast.Attribute) or getattr(callee.value, "id", "") != receiver:
                continue
            member = classes.member(machine, owner, callee.attr)
            if member is None and isinstance(node, ast.Call):
                yield function, node, callee.attr
            elif member is not None and member[0].kind is Kind.FUNCTION and member[0].ref.node not in seen:
                seen.add(member[0].ref.node)
                pending.append(member[0].ref)


def _held(machine: Machine, owner: Class, attribute: str) -> Iterator[set[Mark]]:
    """The marked functions that an attribute may hold, for each class of objects: Dynamo guards the class."""
    made = constructions.made(machine, owner, attribute)
    always = set(_marks(classes.template(machine, owner).attributes.get(attribute)))
    if made and len(always) > 1:
        always.clear()  # one of several, which each object chooses for itself
    for write in attribute_writes.of_class(machine, owner, attribute):
        always |= set(_marks(_written(machine, write)))
    by_class: dict[Class, set[Mark]] = {owner: set()}
    for cls, value in made:
        by_class.setdefault(cls, set()).update(_marks(value))
    for marks in by_class.values():
        yield marks | always


def _written(machine: Machine, write: Write) -> Value | None:
    """What a write puts into an attribute, as far as names at the top level of its module tell."""
    module = machine.project.module(write.path)
    node = write.node
    value = node.args[2] if isinstance(node, ast.Call) and len(node.args) == 3 else getattr(node, "value", None)
    if module is None or not isinstance(value, (ast.Name, ast.Attribute, ast.IfExp)):
        return None
    return machine.evaluate(machine.module_frame(module), value)


def _marks(value: Value | None) -> Iterator[Mark]:
    for one in value.alternatives() if value is not None else ():
        if one.kind is Kind.MARKED and one.ref.kind == "nonstrict":
            yield one.ref
