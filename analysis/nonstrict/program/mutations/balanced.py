"""Changes that a body makes for itself and takes back: they do not tell that what it reads changes between calls."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.facts import save_restore
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.domain.definitions import Class
from nonstrict.program.domain.effects import span_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Span
    from nonstrict.program.domain.definitions import Function
    from nonstrict.program.domain.effects import Summary
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_PAIRED = ("__enter__", "__exit__")
#: Markers of functions whose Python code runs while tracing only.
_TRACED = frozenset({"nonstrict", "in-graph", "constant-result"})


def passing(machine: Machine, own: Function, summary: Summary) -> frozenset[Span]:
    """The changes in a body, and in other marked functions, that are taken back before anything else can run.

    What a context manager changes counts only if nobody else enters it. Where something is put for the time being, what
    the body changes in it there is taken back with it.
    """
    marked = (mark.function for mark in machine.marks.values() if mark.kind in _TRACED and mark.function is not None)
    body = {id(function.node): function for function in (own, *_followed(summary), *marked)}.values()
    found: set[Span] = set()
    held: set[tuple[str, ...]] = set()
    for function in body:
        nodes = save_restore.restored(function.node)
        entered = _entered(function)
        if isinstance(entered, Class):
            nodes |= save_restore.restored_on_exit(entered.node)
        if nodes and (entered is None or _only_within(machine, entered, body)):
            found.update(span_of(function.module.path, function.offset, node) for node in nodes)
            held.update(_put_there(nodes))
    for function in body if held else ():
        changes = _changes_in(function.node, held)
        found.update(span_of(function.module.path, function.offset, node) for node in changes)
    return frozenset(found)


def _put_there(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ...]]:
    """The steps to where something is put for the time being."""
    for node in nodes:
        for target in node.targets if isinstance(node, ast.Assign) else ():
            if steps := steps_of(target):
                yield steps


def _changes_in(function: ast.AST, held: set[tuple[str, ...]]) -> Iterator[ast.AST]:
    """What a function changes behind such a place: by a method of what is there, or a part of it."""
    for node in walk(function):
        changed: list[ast.expr] = []
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            changed = [node.func]
        elif isinstance(node, (ast.Assign, ast.AugAssign)):
            changed = [node.target] if isinstance(node, ast.AugAssign) else node.targets
        paths = (steps_of(target)[:-1] for target in changed)
        if any(path[: len(place)] == place for path in paths for place in held):
            yield node


def _followed(summary: Summary) -> Iterator[Function]:
    """The functions that were interpreted for a body."""
    pending, seen = [summary], {id(summary)}
    while pending:
        for edge in pending.pop().calls.values():
            if id(edge.summary) not in seen:
                seen.add(id(edge.summary))
                pending.append(edge.summary)
                if edge.summary.definition is not None:
                    yield edge.summary.definition


def _entered(function: Function) -> Function | Class | None:
    """The context manager that a function is part of: other code runs before that takes back what it changed."""
    if function.owner is not None and function.name in _PAIRED:
        return function.owner
    return function if scope_of(function.node).is_generator else None


def _only_within(machine: Machine, entered: Function | Class, body: Iterable[Function]) -> bool:
    """Whether all that mentions a context manager is the functions of a body, or imports it."""
    name, module = entered.name, entered.module
    users = [(module, name), *((use.module, use.name) for use in machine.elsewhere.users(module, name))]
    return all(_is_within(user, word, [*body, entered]) for user, word in users)


def _is_within(user: Module, word: str, body: list[Function | Class]) -> bool:
    code = user.source.code
    ranges = [_lines(one) for one in body if one.module.path == user.path]
    for start, _ in user.outline.places((word,)):
        line = code.count("\n", 0, start) + 1
        text = code[code.rfind("\n", 0, start) + 1 : start]
        if not any(first <= line <= last for first, last in ranges) and "import" not in text:
            return False
    return True


def _lines(definition: Function | Class) -> tuple[int, int]:
    node, offset = definition.node, definition.offset
    return node.lineno + offset, (node.end_lineno or node.lineno) + offset
