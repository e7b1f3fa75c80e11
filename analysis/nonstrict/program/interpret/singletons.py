"""Classes that keep their one object: `__new__`, or a metaclass, returns what it stored when it was called first."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.laziness import fills, tests_something
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.values import AbstractObject, Kind, Value
from nonstrict.program.objects import classes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.program.domain.definitions import Class, Function
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: The step from a class to the object that its metaclass keeps.
OBJECT = "()"


def made(
    frame: Frame, node: ast.AST, cls: Class, positional: Sequence[Value], keywords: dict[str, Value]
) -> Value | None:
    """The object that calling a class gives if the class keeps it; None for a class that makes new ones.

    An `__init__` that asks nothing sets the object up anew in every call: what it holds then is of that call.
    """
    if cls.closure is not None or not _initialised_once(frame.machine, cls):
        return None
    if _kept_by_metaclass(frame, cls):
        return classes.instance_at(frame.machine, cls, cls.place.step(OBJECT))
    maker = _program_function(frame.machine, cls, "__new__")
    if maker is None or not _keeps(maker):
        return None
    given = [Value(Kind.CLASS, FRESH, cls), *positional]
    result = frame.machine.call(frame, node, Value(Kind.FUNCTION, FRESH, maker), given, keywords)
    found = [one for one in result.alternatives() if one.ref is cls and one.place.captured]
    return found[0] if found else None


def without_init(name: str, positional: Sequence[Value]) -> Value | None:
    """What `object.__new__(cls)` and `super().__new__(cls)` give; None for other functions."""
    cls = positional[0] if positional and name.rpartition(".")[2] == "__new__" else None
    if cls is None or cls.kind is not Kind.CLASS or cls.of_class is None:
        return None
    return Value(classes.instance_kind(cls.of_class), FRESH, cls.ref, heap=AbstractObject())


def is_kept(machine: Machine, cls: Class) -> bool:
    """Whether a class, one of its methods or its metaclass may keep an object of it for all that ask."""
    methods = [node for node in cls.node.body if isinstance(node, ast.FunctionDef)]
    kept = any(_stored_on_class(method) for method in methods)
    return kept or _kept_by_metaclass(machine.module_frame(cls.module), cls)


def _initialised_once(machine: Machine, cls: Class) -> bool:
    """Whether `__init__`, if there is one, asks whether it ran before, or runs only for what a metaclass makes."""
    init = _program_function(machine, cls, "__init__")
    metaclass = any(keyword.arg == "metaclass" for keyword in cls.node.keywords)
    return init is None or metaclass or tests_something(init.node)


def _kept_by_metaclass(frame: Frame, cls: Class) -> bool:
    for keyword in cls.node.keywords:
        if keyword.arg == "metaclass":
            metaclass = frame.machine.evaluate(frame.machine.module_frame(cls.module), keyword.value)
            of_program = metaclass.of_class if metaclass.kind is Kind.CLASS else None
            caller = _program_function(frame.machine, of_program, "__call__") if of_program is not None else None
            return caller is not None and _keeps(caller)
    return False


def _program_function(machine: Machine, cls: Class, name: str) -> Function | None:
    found = classes.member(machine, cls, name)
    return found[0].function if found is not None else None


def _keeps(function: Function) -> bool:
    """Whether a function returns what it stores, once it found nothing there, under an attribute of its class."""
    returned = (node.value for node in walk(function.node) if isinstance(node, ast.Return) and node.value is not None)
    attributes = {steps[1] for value in returned if len(steps := steps_of(value)) > 1 and steps[1].startswith(".")}
    return any(fills(function.node, attribute) for attribute in attributes)


def _stored_on_class(method: ast.FunctionDef) -> bool:
    """Whether a method puts something under an attribute of its class that it found empty, and returns it."""
    returned = (node.value for node in walk(method) if isinstance(node, ast.Return) and node.value is not None)
    return any(len(steps := steps_of(value)) == 2 and fills(method, steps[1]) for value in returned)
