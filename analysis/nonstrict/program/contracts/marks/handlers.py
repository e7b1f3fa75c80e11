"""The exceptions that callers of a marked function mean to catch: regions, their callers, and what wraps those."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import handlers
from nonstrict.facts.targets import last_name
from nonstrict.program.contracts.marks import marking
from nonstrict.program.discovery import callers, roots
from nonstrict.program.objects import naming
from nonstrict.program.state.frames import closure_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.definitions import Function, Mark
    from nonstrict.program.state.frames import Frame
    from nonstrict.program.state.machine import Machine

#: How many callers lie between a call of a marked function and a handler, at most.
_HOPS = 3


#: The exceptions by which torch refuses to compile, and what they are derived from.
_REFUSALS = frozenset({"Unsupported", "TorchDynamoException", "RuntimeError", "Exception", "BaseException"})


def falls_back(machine: Machine, mark: Mark) -> bool:
    """Whether all calls of a region that were seen go on with something else where torch refuses to compile it."""
    function = mark.function
    if function is None:
        return False
    decorated = any(mark.node is one for one in getattr(function.node, "decorator_list", ()))
    found = False
    for frame, call in _calls(machine, function):
        around = naming.text_of(frame)
        if handlers.recovers(around, call, _REFUSALS):
            found = True
        elif not handlers.in_handler(around, call) and (decorated or last_name(call) != function.name):
            return False
    return found


def caught(machine: Machine, mark: Mark) -> frozenset[str]:
    """The names of the exceptions that are handled around the calls of a marked function, or around their callers'."""
    found: set[str] = set()
    layer: dict[Function, None] = {}
    for call in callers.calls_of(machine, mark):
        if call.caller is not None:
            found |= handlers.around(call.caller.node, call.node)
            layer[call.caller] = None
        elif (module := machine.project.module(call.path)) is not None:
            found |= handlers.around(module.outline.shell, call.node)
    seen = set(layer)
    for _ in range(_HOPS):
        outer: dict[Function, None] = {}
        for function in layer:
            found |= _of_decorators(machine, function) | _where_handed_on(machine, function)
            for frame, node in _calls(machine, function):
                around = naming.text_of(frame)
                found |= handlers.around(around, node)
                if frame.function is not None and frame.function not in seen:
                    outer[frame.function] = None
        seen.update(outer)
        layer = outer
    return frozenset(found)


def _calls(machine: Machine, function: Function) -> Iterator[tuple[Frame, ast.AST]]:
    """The calls of a function in its own file."""
    if function.name != "<lambda>":
        roots.find_calls(machine, function.module, callers.aliases(function))
    for frame, node, _, _ in machine.static_calls.get(function.node, []):
        yield frame, node


def _of_decorators(machine: Machine, function: Function) -> frozenset[str]:
    """What decorators of the program handle around the function that they wrap."""
    found: set[str] = set()
    frame = closure_of(function) or machine.module_frame(function.module)
    for decorator in getattr(function.node, "decorator_list", ()):
        value = machine.evaluate(frame, getattr(decorator, "func", decorator))
        if value.function is not None:
            found |= handlers.in_wrappers(value.function.node)
    return frozenset(found)


def _where_handed_on(machine: Machine, function: Function) -> frozenset[str]:
    """What functions of the program handle around the calls of a parameter, where they are given the function."""
    found: set[str] = set()
    for callee, calls in list(machine.static_calls.items()):
        handled = handlers.around_calls(callee)
        names = _parameters(callee) if handled else []
        for _, _, positional, keywords in calls if names else ():
            for name, value in (*zip(names, positional, strict=False), *keywords.items()):
                given = marking.function_of(machine, value) if name in handled else None
                if given is not None and given.node is function.node:
                    found |= handled[name]
    return frozenset(found)


def _parameters(callee: ast.AST) -> list[str]:
    arguments = getattr(callee, "args", None)
    if not isinstance(arguments, ast.arguments):
        return []
    return [one.arg for one in (*arguments.posonlyargs, *arguments.args)]
