"""Calls that may reach one of several marked functions, which Dynamo cannot tell apart."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.targets import last_name
from nonstrict.facts.walk import walk
from nonstrict.facts.words import places
from nonstrict.findings import Related
from nonstrict.program.effects import span_of
from nonstrict.program.marks import callers, once, roots
from nonstrict.program.marks.held import calls_through_attributes
from nonstrict.program.values import Kind, Value
from nonstrict.program.writers import writes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.definitions import Function, Mark, SeenCall
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_CALLED_OR_BOUND = re.compile(r"\s*[(=:]")


def dispatches(machine: Machine, mark: Mark) -> tuple[Related, ...]:
    """Calls that Dynamo answers with the graph of another marked function."""
    if mark.kind != "nonstrict":
        return ()
    closure = mark.function.closure if mark.function is not None else None
    holders = list(_holders(machine, mark))
    rebound = _rebound_abroad(machine, mark, holders)
    held = rebound or _handed_on(machine, mark) or any(names for module, names in holders if module.path != mark.path)
    if closure is None and not held:
        return ()
    calls = callers.calls_of(machine, mark)
    found = [
        Related(span_of(path, offset, node), "this call may reach several marked functions")
        for path, offset, node in (
            *machine.dispatches.get(id(mark), []),
            *_as_argument(machine, mark),
            *calls_through_attributes(machine, mark),
            *((call.path, call.offset, call.node) for call in calls if _called_name(call) in rebound),
        )
    ]
    function = mark.function
    if function is None or function.closure is None or not _captures(function):
        return tuple(found)
    if function.closure.function is not None and once.runs_once(machine, function.closure.function):
        return tuple(found)
    for call in calls:
        if call.through == "attribute" or (call.through == "cell" and _same_factory(call, function)):
            how = "every instance" if call.through == "attribute" else "every call of the factory"
            found.append(Related(span_of(call.path, call.offset, call.node), f"{how} has a marked function of its own"))
    return tuple(found)


def _called_name(call: SeenCall) -> str:
    return last_name(call.node.func)


def _rebound_abroad(machine: Machine, mark: Mark, holders: list[tuple[Module, set[str]]]) -> set[str]:
    """The names of a marked function that another file binds to another marked function: `model.quantise = fine`."""
    return {
        name
        for module, names in holders
        for name in names
        if any(_is_another(value, mark) for value in writes.rebindings_abroad(machine, module, name))
    }


def _is_another(value: Value, mark: Mark) -> bool:
    marks = [alternative.ref for alternative in value.alternatives() if alternative.kind is Kind.MARKED]
    return any(other.kind == mark.kind and other.function is not mark.function for other in marks)


def _holders(machine: Machine, mark: Mark) -> Iterator[tuple[Module, set[str]]]:
    """The modules that have a marked function under some top-level names."""
    for module, names in callers.exported_by(machine, mark):
        yield module, names
        for name in names:
            for use in machine.elsewhere.users(module, name):
                yield use.module, roots.handed_on(use.module, {use.name})


def _handed_on(machine: Machine, mark: Mark) -> bool:
    """Whether a marked function's name is used other than by calling it: only then may a call reach another one."""
    module = machine.project.module(mark.path)
    if module is None:
        return False
    code = module.source.code
    line = getattr(mark.node, "lineno", 0) + mark.offset
    for name in roots.names_of(machine, mark):
        if name in module.declared_global or len(module.bindings.get(name, ())) > 1:
            return True
        for start, end in places(code, {name}):
            if not _CALLED_OR_BOUND.match(code, end) and code.count("\n", 0, start) + 1 != line:
                return True
    return False


def _as_argument(machine: Machine, mark: Mark) -> list[tuple[str, int, ast.AST]]:
    """Calls of a parameter for which other calls of the same function pass another marked function."""
    found: list[tuple[str, int, ast.AST]] = []
    for node, calls in machine.static_calls.items():
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        passed: dict[str, set[int]] = {}
        frames = [frame for frame, _, positional, keywords in calls if _passes(mark, positional, keywords)]
        if not frames:
            continue
        names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
        for _, _, positional, keywords in calls:
            for name, value in (*zip(names, positional, strict=False), *keywords.items()):
                if value.kind is Kind.MARKED:
                    passed.setdefault(name, set()).add(id(value.ref))
        varying = {name for name, marks in passed.items() if len(marks) > 1 and id(mark) in marks}
        function = next((known for known in machine.functions.values() if known.node is node), None)
        if varying and function is not None:
            found.extend(
                (function.module.path, function.offset, inner)
                for inner in walk(node)
                if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name) and inner.func.id in varying
            )
    return found


def _passes(mark: Mark, positional: tuple[Value, ...], keywords: dict[str, Value]) -> bool:
    return any(value.kind is Kind.MARKED and value.ref is mark for value in (*positional, *keywords.values()))


def _same_factory(call: SeenCall, function: Function) -> bool:
    if call.caller is None or call.caller.closure is None or function.closure is None:
        return False
    return call.caller.closure.function is function.closure.function


def _captures(function: Function) -> bool:
    """Whether a nested function reads a variable of the function around it that differs from call to call."""
    closure = function.closure
    if closure is None or closure.function is None:
        return False
    outside = scope_of(closure.function.node).local
    inside = scope_of(function.node).local
    node = function.node
    body = node.body if isinstance(node.body, list) else [node.body]
    names = {inner.id for part in body for inner in walk(part) if isinstance(inner, ast.Name)}
    return bool((names - inside) & outside)
