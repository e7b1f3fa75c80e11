"""Functions in whose place the program puts what a marker made of them: `ops.scale = nonstrict_trace(ops.scale)`.

Whoever reads that name of the module, or attribute of the class, gets the marked function; an import that came before
keeps the one without a marker. Where it is not known which came first, neither is taken to be called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.program.frames import relocated
from nonstrict.program.marks import import_order
from nonstrict.program.places import Origin
from nonstrict.program.values import UNKNOWN, Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.definitions import Class, Function
    from nonstrict.program.frames import Frame
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module
    from nonstrict.program.writers.members import Put


def of_function(frame: Frame, callee: Value) -> Value | None:
    """What a call of a function by a global name reaches in its place; None if that is the function itself."""
    place = callee.place
    if frame.plain or place.origin is not Origin.GLOBAL or place.path:
        return None
    module = frame.machine.project.module(place.file)
    return _under(frame.machine, module, place.name, callee.ref) if module is not None else None


def of_member(frame: Frame, cls: Class, name: str, member: Value) -> Value:
    """A function that the body of a class binds, or what is put in its place."""
    if frame.plain or member.kind is not Kind.FUNCTION:
        return member
    from nonstrict.program.writers import members

    marked = _marked(members.in_place(frame.machine, cls, name), member.ref)
    return member if marked is None else relocated(marked.value, marked.place)


def _under(machine: Machine, module: Module, name: str, function: Function) -> Value | None:
    marked = _marked(machine.put_on(module, name), function)
    if marked is not None:
        return marked.value
    for imported in import_order.imports_of(machine, module, name):
        marked = _marked(machine.put_on(imported.source, imported.name), function)
        if marked is not None:
            before = import_order.precedes(machine, imported, marked)
            return None if before else UNKNOWN if before is None else marked.value
    return None


def _marked(put: Iterable[Put], function: Function) -> Put | None:
    return next((one for one in put if one.value.kind is Kind.MARKED and one.value.ref.function is function), None)
