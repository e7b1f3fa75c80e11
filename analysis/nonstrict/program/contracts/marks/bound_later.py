"""Attributes that methods other than the constructor bind, asked for where what they hold is compiled.

`self.model`, of which the constructor says nothing, or that it is None, holds what `setup` puts there. The methods run
on an object of their own: what they bind tells of no other object of the class.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.memo import remembered
from nonstrict.facts.scopes import receiver_of
from nonstrict.facts.walk import own_scope
from nonstrict.knowledge.operators import BASE_MODULES
from nonstrict.program.contracts.regions.compilations import Compilations
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.values import UNKNOWN, AbstractObject, Kind, Value, join
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: An attribute that more methods bind is passed around.
_MAX_METHODS = 4
_OBJECTS = frozenset({Kind.MODULE, Kind.OBJECT})
#: What is there to be compiled.
_COMPILED = _OBJECTS | {Kind.FUNCTION, Kind.BOUND}
#: What asks for the module that has it.
_OF_MODULE = frozenset({"forward", "__call__", "_call_impl"})


def held(frame: Frame, given: Value) -> Value | None:
    """What methods bind the attribute to from which a value was read that is not known; None if they do not tell."""
    found: Value | None = None
    for one in given.alternatives() if frame.static else ():
        read = _attribute(frame, one)
        put = _put(frame, *read) if read is not None else None
        found = join(found, put) if put is not None else found
    return found


def _attribute(frame: Frame, value: Value) -> tuple[Class, str] | None:
    """The class and the attribute of the object of the program that a value was read from."""
    if value.external_method is not None:
        holder, name = value.external_method
        if name in _OF_MODULE:
            return _attribute(frame, holder)
        cls = _own_class(holder)
        return (cls, name) if cls is not None else None
    if value.kind not in (Kind.NONE, Kind.UNKNOWN) or value.place.root is not Root.ARGUMENT:
        return None
    outermost = [frame, *frame.around()][-1]
    holder = outermost.env.get(value.place.name, UNKNOWN)
    named = len(value.place.path) == 1 and value.place.path[0].startswith(".")
    cls = _own_class(holder)
    return (cls, value.place.path[0][1:]) if named and cls is not None else None


def _own_class(holder: Value) -> Class | None:
    return holder.of_class if holder.kind in _OBJECTS else None


def _put(frame: Frame, cls: Class, name: str) -> Value | None:
    """What the methods of a class that are not running bind an attribute to, as far as that can be compiled."""
    known = frame.machine.part(Compilations).bound_later
    if (cls, name) not in known:
        known[cls, name] = None
        running = {around.function for around in frame.around()}
        methods = [method for method in _binding(frame.machine, cls, name) if method not in running]
        known[cls, name] = _bound_by(frame.machine, cls, name, methods) if len(methods) <= _MAX_METHODS else None
    return known[cls, name]


def _bound_by(machine: Machine, cls: Class, name: str, methods: list[Function]) -> Value | None:
    receiver = classes.instance_at(machine, cls, AccessPath(Root.ARGUMENT, "", "self"))
    made = receiver.heap.attributes if receiver.heap is not None else {}
    found: Value | None = None
    for method in methods:
        heap = AbstractObject()
        heap.attributes = {attribute: value for attribute, value in made.items() if attribute != name}
        with machine.summaries.aside():
            machine.static_frame(method, receiver._replace(heap=heap))
        for one in heap.attributes.get(name, UNKNOWN).alternatives():
            found = join(found, one) if one.kind in _COMPILED and one.dotted not in BASE_MODULES else found
    return found


def _binding(machine: Machine, cls: Class, name: str) -> Iterator[Function]:
    """The methods of a class, the constructor aside, that bind an attribute of their object."""
    for base in classes.lineage(cls):
        if isinstance(base, str):
            continue
        for statement in base.node.body:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)) or statement.name == "__init__":
                continue
            found = classes.own_member(machine, base, statement.name) if name in _bound_in(statement) else None
            if found is not None and found.function is not None and found.function.node is statement:
                yield found.function


def _bound_in(method: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    """The attributes of its object that a method binds."""
    return remembered(method, "_nonstrict_bound_later", _find_bound)


def _find_bound(method: ast.FunctionDef | ast.AsyncFunctionDef) -> frozenset[str]:
    receiver = receiver_of(method)
    stored = (one for one in own_scope(method) if isinstance(one, ast.Attribute) and isinstance(one.ctx, ast.Store))
    return frozenset(one.attr for one in stored if getattr(one.value, "id", None) == receiver)
