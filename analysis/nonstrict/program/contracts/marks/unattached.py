"""Markers that mark no function which is known: names that torch lacks, and calls whose result nobody keeps."""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.facts import guards
from nonstrict.facts.discarded import is_statement
from nonstrict.facts.scopes import is_as_passed, parameter_names
from nonstrict.facts.targets import last_name
from nonstrict.knowledge.markers import MARKERS, since
from nonstrict.program.discovery import roots, run_once
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.program.domain.definitions import Mark
from nonstrict.program.domain.misapplied import INEFFECTIVE, WRAPPED
from nonstrict.program.domain.values import Kind, Value

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict.facts.texts import Root
    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: The name of a marker is read that the torch at hand does not have.
ABSENT = "absent"
#: A function marks one that it is given, and drops what it gets.
DROPPED = "dropped"
#: Marks that are shown to nobody: of what they are about there is another one, or none.
KINDS = frozenset({ABSENT, DROPPED, INEFFECTIVE, WRAPPED})

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
#: Markers that return a new function and leave the given one as it is.
_WRAPPING = frozenset({"nonstrict", "leaf"})
_WORDS = frozenset(name.rpartition(".")[2] for name, marker in MARKERS.items() if marker.kind in _WRAPPING)


class Part(NamedTuple):
    """A top-level definition, or all that stands outside of these, with its line offset."""

    root: Root
    offset: int


def marks(machine: Machine, module: Module) -> list[Mark]:
    """What is to be told of the markers that a module names, beside the functions that it marks."""
    absent = _lacking(machine.torch)
    words = {name.rpartition(".")[2] for name in absent}
    found: list[Mark] = []
    if words and not _is_provided(module, words):
        for part in parts(machine, module, words):
            found += _absent(machine, module, part, absent)
    names = _names(module)
    for part in parts(machine, module, names):
        found += _dropped(machine, module, part, names)
    return found


def _names(module: Module) -> set[str]:
    """The names by which a module calls markers that wrap a function."""
    if not any(map(module.holds, _WORDS)):
        return set()
    imported = {name for name, bindings in module.bindings.items() for one in bindings if one.attribute in _WORDS}
    names = {*_WORDS, *imported}
    return names | roots.handed_on(module, names)


@cache
def _lacking(torch: tuple[int, int]) -> frozenset[str]:
    """The names of markers that a version of torch does not have yet."""
    return frozenset(name for name, one in MARKERS.items() if one.since is not None and torch < since(one.since))


def _is_provided(module: Module, words: set[str]) -> bool:
    """Whether a module sets an attribute of that name: then the name is there."""
    return any(re.search(rf"\.{word}\s*=[^=]|[\"']{word}[\"']\s*,", module.source.code) for word in words)


def parts(machine: Machine, module: Module, words: set[str]) -> Iterator[Part]:
    """The parts of a module in which one of some words stands."""
    if any(True for _ in module.outside(words)):
        yield Part(module.outline.shell, 0)
    for chunk in module.chunks_with(words):
        node = module.outline.node(chunk) if machine.concerns(module, chunk) else None
        if node is not None:
            yield Part(node, chunk.offset)


def _mark(kind: str, module: Module, part: Part, node: ast.AST, spelling: str, target: str) -> Mark:
    value = Value(Kind.EXTERNAL, FRESH, target)
    api = spelling.rpartition(".")[2]
    return Mark(kind, api, value, module.path, part.offset, node, None, spelling=spelling)


# -- names that are missing ---------------------------------------------------------------------------------------


def _absent(machine: Machine, module: Module, part: Part, absent: frozenset[str]) -> Iterator[Mark]:
    told = {id(node) for mark in machine.marks.values() if mark.path == module.path for node in _applied_by(mark)}
    words = {name.rpartition(".")[2] for name in absent}
    reads = guards.ways(part.root, lambda node: _names_one(node, words) and id(node) not in told)
    for way in reads:
        spelling = _spelling(machine, module, way)
        if spelling in absent and not _is_guarded(module, part, way) and _is_reached(machine, module, way):
            yield _mark(ABSENT, module, part, way[-1], spelling, spelling)


def _applied_by(mark: Mark) -> tuple[ast.AST, ...]:
    """The expression of a marker, and what it calls: what is missing is told of the function that it marks."""
    return (mark.node, mark.node.func) if isinstance(mark.node, ast.Call) else (mark.node,)


def _names_one(node: ast.AST, words: set[str]) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(alias.name in words for alias in node.names)
    return isinstance(node, ast.Attribute) and node.attr in words and isinstance(node.ctx, ast.Load)


def _spelling(machine: Machine, module: Module, way: Sequence[ast.AST]) -> str:
    """The dotted name that is read; "" if it is not known.

    What is imported at the top level is told where it is used.
    """
    node = way[-1]
    if isinstance(node, ast.ImportFrom):
        inside = not node.level and any(isinstance(one, _FUNCTIONS) for one in way)
        names = [f"{node.module}.{alias.name}" for alias in node.names] if inside else []
        return next((name for name in names if name in MARKERS), "")
    found = machine.evaluate(machine.module_frame(module), node) if isinstance(node, ast.expr) else None
    return found.dotted if found is not None and found.kind is Kind.EXTERNAL else ""


def _is_guarded(module: Module, part: Part, way: Sequence[ast.AST]) -> bool:
    """Whether something may ask for the name before, in the function or in the module."""
    first = getattr(way[0], "lineno", 0) + part.offset
    above = [one for one in module.outline.shell.body if one.lineno < first] if first else []
    return guards.is_guarded(way, lambda name: _is_set(module, name)) or guards.may_leave(above)


def is_guarded(module: Module, statements: Sequence[ast.AST], node: ast.AST) -> bool:
    """Whether something may ask for a name before one of some statements of a module reads it at a node."""
    found = (way for one in statements for way in guards.ways(one, lambda inner: inner is node))
    return any(guards.is_guarded(way, lambda name: _is_set(module, name)) for way in found)


def _is_set(module: Module, name: str) -> bool:
    """Whether a top-level name is bound once, to a constant that is true."""
    bindings = module.bindings.get(name, [])
    if len(bindings) != 1 or bindings[0].conditional or name in module.declared_global:
        return False
    node = bindings[0].node
    return bindings[0].kind == "assign" and isinstance(node, ast.Constant) and bool(node.value)


def _is_reached(machine: Machine, module: Module, way: Sequence[ast.AST]) -> bool:
    """Whether nothing asks before the function, or the method of a class, is used in which something is read."""
    definitions = (*_FUNCTIONS, ast.ClassDef)
    inside = [one for one in way[:-1] if isinstance(one, definitions)]
    if not any(isinstance(one, _FUNCTIONS) for one in inside):
        return True
    names = {one.name for one in inside[:2] if not one.name.startswith("__")}
    uses = [(use.module, use.name) for use in machine.elsewhere.users(module, inside[0].name)]
    for user, name in (*((module, name) for name in sorted(names)), *uses):
        for around in run_once.mentions(user, name):
            if around is not None and guards.is_guarded(around, lambda one, user=user: _is_set(user, one)):
                return False
    return True


# -- results that are dropped -------------------------------------------------------------------------------------


def _dropped(machine: Machine, module: Module, part: Part, names: set[str]) -> Iterator[Mark]:
    for way in guards.ways(part.root, lambda node: isinstance(node, ast.Call) and last_name(node) in names):
        node, given = way[-1], _parameter(way)
        if given and isinstance(node, ast.Call) and is_statement(part.root, node):
            found = machine.evaluate(machine.module_frame(module), node.func)
            spelling = found.dotted if found.kind is Kind.EXTERNAL else ""
            if spelling in MARKERS and MARKERS[spelling].kind in _WRAPPING:
                yield _mark(DROPPED, module, part, node, spelling, given)


def _parameter(way: Sequence[ast.AST]) -> str:
    """The parameter of a function around a call that is all it is given, and that nothing else is bound to; or ""."""
    call = way[-1]
    arguments = [*call.args, *(one.value for one in call.keywords)] if isinstance(call, ast.Call) else []
    name = getattr(arguments[0], "id", "") if len(arguments) == 1 else ""
    functions = [one for one in way if isinstance(one, _FUNCTIONS) and name in parameter_names(one.args)]
    if not name or not functions:
        return ""
    return name if is_as_passed(functions[-1], name) else ""
