"""What code stores once the module of a name is there: in attributes and entries, and where the module has None."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts.classmethods import class_parameter
from nonstrict.facts.loops import first_of
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import may_meet
from nonstrict.facts.walk import walk
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.values import UNKNOWN, Kind, Value, join
from nonstrict.program.domain.write import How
from nonstrict.program.mutations import writes
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.domain.write import Write
    from nonstrict.program.state.machine import Machine

_TELLS_NOTHING = frozenset({Kind.NONE, Kind.UNKNOWN})


def rebindings(machine: Machine, module: Module, name: str) -> list[Value]:
    """The values that functions of the module give a global name."""
    found = (
        _value(machine, module, name, write)
        for write in writes.writes_of(machine, module, name)
        if write.how is How.REBOUND and write.value is not None
    )
    return [value for value in found if value.kind not in _TELLS_NOTHING]


def rebindings_abroad(machine: Machine, module: Module, name: str) -> list[Value]:
    """The values that other files of the run give a top-level name of a module."""
    found: list[Value] = []
    for write in machine.mutations.foreign_writes(module, name):
        rebinds = write.how is How.REBOUND and write.value is not None and not write.building
        user = machine.project.module(write.path) if rebinds else None
        if user is not None:
            found.append(_value(machine, user, name, write))
    return found


def stored_values(machine: Machine, module: Module, name: str, attribute: str) -> Value | None:
    """The join of the values that a module stores under an attribute of a global, or at the step to one of its items.

    What is stored under any key while the module is executed, the table has by then, where some entries are known.
    """
    found: Value | None = None
    entry = attribute if attribute.startswith("[") else ""
    filled = bool(entry) and module.place(name) in machine.filled
    for write in writes.writes_of(machine, module, name):
        if write.how is How.REBOUND or write.value is None or write.attribute != ("" if entry else attribute):
            continue
        if entry and (not may_meet(write.steps, (entry,)) or (filled and write.building and entry not in write.steps)):
            continue
        if not entry and write.steps[-1] != f".{attribute}":
            continue  # a part of what the attribute holds: `library.function.restype = c_double`
        found = join(found, _value(machine, module, name, write))
    return found


def put_later(machine: Machine, module: Module, name: str, attribute: str) -> Value | None:
    """The join of what is put under a top-level name of a module, or under an attribute of what it holds."""
    steps = (f".{attribute}",) if attribute else ()
    own = writes.writes_of(machine, module, name) if attribute else []
    found: Value | None = None
    for write in (*own, *machine.mutations.foreign_writes(module, name)):
        user = machine.project.module(write.path) if write.value is not None and write.steps == steps else None
        if user is not None and write.value is not None:
            value = _value(machine, user, name, write)
            found = found if value.kind in _TELLS_NOTHING else join(found, value)
    return found


def _value(machine: Machine, user: Module, name: str, write: Write) -> Value:
    """What a write in a module stores.

    For the variable of a loop over a literal, the first of its elements; for a parameter of the function that writes,
    what the calls of it pass.
    """
    stored = write.value
    if stored is None:
        return UNKNOWN
    around = [node for node, _, _ in writes.functions_with(user, name) if write.node in walk(node)]
    if isinstance(stored, ast.Name) and stored.id not in user.bindings:
        stored = next((found for node in around if (found := first_of(node, stored.id)) is not None), stored)
    frame = Frame(machine, user, write.offset, Summary(user.name), static=True)
    for node in around:
        frame.env.update(_passed(machine, user, node, stored))
    held = machine.global_value(user, name)
    if held.kind is Kind.CLASS and held.of_class is not None:
        methods = (
            node for node in held.of_class.node.body if isinstance(node, ast.FunctionDef) and write.node in walk(node)
        )
        frame.env.update({class_parameter(method): held for method in methods})
    return machine.evaluate(frame, stored)


def _passed(machine: Machine, user: Module, around: ast.AST, stored: ast.expr) -> dict[str, Value]:
    """The parameters of a top-level function that an expression in it reads, and what the calls of it pass."""
    if not isinstance(around, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {}
    function = machine.global_value(user, around.name)
    if function.function is None or function.function.node is not around:
        return {}
    scope = scope_of(around)
    read = {node.id for node in walk(stored) if isinstance(node, ast.Name)}
    passed = (
        (name, machine.contracts.handed_to(machine, function.function, name))
        for name in scope.parameters
        if name in read
    )
    return {name: value for name, value in passed if value is not None}
