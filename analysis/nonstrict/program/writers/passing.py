"""Changes that a body makes for itself and takes back: they do not tell that what it reads changes between calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts import restoring
from nonstrict.facts.scopes import scope_of
from nonstrict.program.definitions import Class
from nonstrict.program.effects import span_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.findings import Span
    from nonstrict.program.definitions import Function
    from nonstrict.program.effects import Summary
    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_PAIRED = ("__enter__", "__exit__")
#: Markers of functions whose Python code runs while tracing only.
_TRACED = frozenset({"nonstrict", "in-graph", "constant-result"})


def passing(machine: Machine, own: Function, summary: Summary) -> frozenset[Span]:
    """The changes in a body, and in other marked functions, that are taken back before anything else can run.

    What a context manager changes counts only if nobody else enters it.
    """
    marked = (mark.function for mark in machine.marks.values() if mark.kind in _TRACED and mark.function is not None)
    body = {id(function.node): function for function in (own, *_followed(summary), *marked)}.values()
    found: set[Span] = set()
    for function in body:
        nodes = restoring.restored(function.node)
        entered = _entered(function)
        if isinstance(entered, Class):
            nodes |= restoring.restored_on_exit(entered.node)
        if nodes and (entered is None or _only_within(machine, entered, body)):
            found.update(span_of(function.module.path, function.offset, node) for node in nodes)
    return frozenset(found)


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
