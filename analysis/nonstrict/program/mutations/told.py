"""Attributes that functions of the program set as they are told: `set_option(model, "limit", 3.0)`.

What such a function does with what it is given the interpreter tells: it runs with the names that a call gives it.
"""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.facts.steps import expression_of
from nonstrict.facts.walk import walk
from nonstrict.knowledge.operators import BASE_MODULE
from nonstrict.program.domain.access_paths import VIEW, AccessPath, Root
from nonstrict.program.domain.effects import reachable
from nonstrict.program.domain.values import UNKNOWN, AbstractObject, Kind, Value
from nonstrict.program.mutations import indirect, strangers
from nonstrict.program.mutations.calls import sets_any_attribute, sets_attribute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Effect
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_WRITES = frozenset({Event.WRITE, Event.LEAK})
#: What says which attributes are meant: a name, or what holds names.
_NAMING = (ast.Constant, ast.Dict, ast.List, ast.Tuple)


def setting(
    machine: Machine, module: Module, part: ast.AST, offset: int, attribute: str
) -> Iterator[tuple[ast.Call, ast.expr]]:
    """The calls in some code that set an attribute, or have it set, as they are told; each with the object."""
    for call in walk(part):
        if not isinstance(call, ast.Call):
            continue
        if sets_attribute(call) and sets_any_attribute(call):
            if _is_named(machine, module, part, offset, call, attribute):
                yield call, call.args[0]
        elif _names(call, attribute):
            function = _called(machine, module, call)
            if function is not None:
                yield from ((call, one) for one in _objects(machine, module, function, call, attribute))


def once_running(machine: Machine, module: Module, attribute: str) -> Iterator[tuple[Effect, ast.expr]]:
    """What statements outside functions that set attributes by any name do to one, once something ran; the object."""
    if "setattr" not in module.source.code:
        return
    shell = module.outline.shell
    for summary in indirect.once_running(machine, module, shell, partial(_sets_any, machine, module)):
        for part in reachable(summary):
            for effect in part.summary.effects.values():
                place = effect.place
                if effect.event in _WRITES and place.root is Root.GLOBAL and place.path[-1:] == (f".{attribute}",):
                    holder = expression_of(place.name, [step for step in place.path[:-1] if step != VIEW])
                    if holder is not None:
                        yield effect, holder


def _sets_any(machine: Machine, module: Module, statement: ast.stmt) -> bool:
    """Whether a statement, or a function that it calls, sets attributes of which the text does not tell the names."""
    calls = [one for one in walk(statement) if isinstance(one, ast.Call)]
    called = (_called(machine, module, call) for call in calls if call.args)
    return any(sets_attribute(call) and sets_any_attribute(call) for call in calls) or any(
        sets_attribute(inner) and sets_any_attribute(inner)
        for function in called
        if function is not None
        for inner in walk(function.node)
        if isinstance(inner, ast.Call)
    )


def _is_named(machine: Machine, module: Module, part: ast.AST, offset: int, call: ast.Call, attribute: str) -> bool:
    """Whether the name that `setattr` is given where it stands may be that of an attribute."""
    held = strangers.held_within(machine, module, part, offset, call, call.args[1])
    if not held and isinstance(part, ast.stmt) and not isinstance(part, (ast.FunctionDef, ast.ClassDef)):
        held = [*machine.evaluate(machine.module_frame(module), call.args[1]).alternatives()]
    return any(one.const == attribute for one in held)


def _names(call: ast.Call, attribute: str) -> bool:
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    told = (one for value in given if isinstance(value, _NAMING) for one in walk(value))
    named = any(isinstance(one, ast.Constant) and one.value == attribute for one in told)
    return named or any(keyword.arg == attribute for keyword in call.keywords)


def _called(machine: Machine, module: Module, call: ast.Call) -> Function | None:
    """The function of the program that is called by a name of its module, or of one that the module imports."""
    root = call.func
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id not in module.bindings:
        return None
    callee = machine.evaluate(machine.module_frame(module), call.func)
    function = callee.function
    if function is None or function.owner is not None or function.closure is not None:
        return None
    return function if isinstance(function.node, ast.FunctionDef) else None


def _objects(
    machine: Machine, module: Module, function: Function, call: ast.Call, attribute: str
) -> Iterator[ast.expr]:
    """The arguments of a call of which the function sets the attribute."""
    arguments = function.node.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
    given = dict(zip(names, call.args, strict=False))
    named = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg is not None}
    taken = {*names, *(one.arg for one in arguments.kwonlyargs)}
    given |= {name: value for name, value in named.items() if name in taken}
    frame = machine.module_frame(module)
    told = {
        name: machine.evaluate(frame, node) if isinstance(node, _NAMING) else _module_at(name)
        for name, node in given.items()
    }
    if arguments.kwarg is not None:
        told[arguments.kwarg.arg] = _collected(set(named) - taken)
    if isinstance(function.node, ast.FunctionDef) and told:
        summary = indirect.interpreted(machine, function.module, function.node, function.offset, None, given=told)
        changed = {
            effect.place.name
            for part in reachable(summary)
            for effect in part.summary.effects.values()
            if effect.event in _WRITES
            and effect.place.root is Root.ARGUMENT
            and effect.place.path[-1:] == (f".{attribute}",)
        }
        yield from (given[name] for name in sorted(changed & given.keys()))


def _module_at(parameter: str) -> Value:
    """Any module: functions that set options go through the parts of what they are given."""
    return Value(Kind.MODULE, AccessPath(Root.ARGUMENT, "", parameter), BASE_MODULE, heap=AbstractObject())


def _collected(names: set[str]) -> Value:
    """What `**options` holds for a call that gives these names."""
    heap = AbstractObject()
    for name in sorted(names):
        heap.store(name, UNKNOWN)
    return Value(Kind.DICT, heap=heap)
