"""Attributes of classes of the program: what their bodies bind, and what is put in its place, or beside it, later."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.references import Bound, ExternalMethod
from nonstrict.program.domain.values import CALLABLES, STRING, UNKNOWN, Kind, Value, join, placed, relocated
from nonstrict.program.objects import classes
from nonstrict.program.state.frames import set_later

if TYPE_CHECKING:
    import ast

    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.definitions import Class
    from nonstrict.program.state.frames import Frame


def place_of(base: Value, name: str) -> AccessPath:
    """Where a class attribute read through an instance lives: an argument's class is reached from outside."""
    return base.of_class.place.step(f".{name}") if base.of_class is not None else base.place.step(f".{name}")


def load(frame: Frame, node: ast.Attribute, base: Value, name: str) -> Value:
    """An attribute that is read of a class itself: `Settings.scale`, `cls.instance`."""
    cls = base.of_class
    if base.place.captured:
        frame.consume(node, base)
    if cls is None:
        return UNKNOWN
    found = classes.member(frame.machine, cls, name)
    if found is None:
        return _beside_members(frame, base, cls, name)
    value = frame.machine.contracts.in_place_of_member(frame, cls, name, found[0])
    if value.function is not None and value.function.binding == "class":
        return Value(Kind.BOUND, FRESH, Bound(base, value.function))
    if value.kind in CALLABLES:
        return with_exchanged(frame, value, cls, name)
    if classes.is_enum(cls):
        return Value(Kind.SETTING, FRESH, cls)
    return set_later(frame, relocated(value, place_of(base, name)), cls.place, name)


def _beside_members(frame: Frame, base: Value, cls: Class, name: str) -> Value:
    """An attribute of a class that its body does not bind: what its module stores there, or what a base outside has."""
    if name == "apply" and classes.is_autograd_function(cls):
        return Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(base, "apply"))
    if name == "__name__":
        return STRING._replace(const=cls.name)
    if name == "__qualname__":
        return STRING
    stored = frame.machine.mutations.stored_in(cls.place, name) if _is_of_module(cls) else None
    return (
        Value(Kind.EXTERNAL_METHOD, FRESH, ExternalMethod(base, name))
        if stored is None
        else placed(stored, place_of(base, name))
    )


def with_exchanged(frame: Frame, member: Value, cls: Class, name: str) -> Value:
    """A function that a class body binds, and those that the program puts in its place.

    Dynamo guards whether a member is a `staticmethod`: a bare function in its place is a choice that a region sees.
    Code that is only looked at for what it changes is taken to run with what the class body binds.
    """
    if frame.plain:
        return member
    put = frame.machine.mutations.exchanges(cls, name)
    if member.kind is Kind.MARKED and classes.is_static(cls, name):
        put = tuple(one for one in put if not one.bare)
    if not put:
        return member
    found = functools.reduce(join, (one.value for one in put), member)
    return placed(found, put[0].place)


def _is_of_module(cls: Class) -> bool:
    """Whether a class is found under a top-level name of its module."""
    return cls.closure is None and cls.within is None
