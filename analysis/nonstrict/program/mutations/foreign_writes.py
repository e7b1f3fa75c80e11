"""Writes of a module's names by other files: `settings.mode = "fast"`, `CACHE.clear()` behind an import."""

from __future__ import annotations

import ast
import re
from functools import partial
from typing import TYPE_CHECKING

from nonstrict.facts.execution import steps_outside
from nonstrict.facts.scopes import scope_of
from nonstrict.facts.steps import steps_of
from nonstrict.facts.walk import walk
from nonstrict.program.domain.values import CALLABLES, PRIMITIVES, Kind
from nonstrict.program.domain.write import How, Write
from nonstrict.program.externals.running import runs, runs_around
from nonstrict.program.linking.imports import imports_in, spellings
from nonstrict.program.mutations import reloads
from nonstrict.program.mutations.calls import IN_PLACE, MUTATORS, changed_by, named_by, replaces_parameters
from nonstrict.program.mutations.preparing import prepares

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

_FIXED = PRIMITIVES | (CALLABLES - {Kind.CLASS}) | {Kind.TUPLE}
#: What stands behind a name that is rebound through its module: `module.name = …`, `module.name += …`.
_ASSIGNED = re.compile(r"\s*(?:[-+*/|&@%^<>]*=(?!=)|[,:][^\n()]*=)")
_DELETED = re.compile(r"\bdel\b")
_Spelled = frozenset[tuple[str, ...]]


def foreign_writes(machine: Machine, module: Module, name: str) -> list[Write]:
    """The writes of a top-level name of a module, or of what it leads to, in other files of the run."""
    found: list[Write] = []
    held = machine.global_value(module, name)
    # What cannot be changed in place is only written through the module itself, never through an imported name.
    changeable = any(alternative.kind not in _FIXED for alternative in held.alternatives())
    may_use = None if changeable else partial(_rebinds, name=name)
    for use in machine.elsewhere.users(module, name, hand_on=changeable, may_use=may_use):
        found.extend(in_module(machine, use.module, module, use.name, name))
    found.extend(reloads.rebindings(machine, module, name))
    return list({(write.path, id(write.node)): write for write in found}.values())


def _rebinds(code: str, name: str) -> bool:
    """Whether a text may rebind a name of another module: `module.name = …`, `setattr(module, "name", …)`, `del`."""
    start = code.find(name)
    while start >= 0:
        end = start + len(name)
        before, after = code[start - 1 : start], code[end : end + 1]
        if before == "." and (
            _ASSIGNED.match(code, end) or _DELETED.search(code, code.rfind("\n", 0, start) + 1, start)
        ):
            return True
        if before in _QUOTES and after in _QUOTES:
            return True
        start = code.find(name, end)
    return False


_QUOTES = ('"', "'")


def in_module(machine: Machine, user: Module, source: Module, word: str, name: str) -> Iterator[Write]:
    """The writes of a name of `source` in a file that uses it by `word`.

    Writes outside functions are part of building the program until the file calls something.
    """
    shell = user.outline.shell
    outside = _spelled(machine, user, imports_in(shell), source, name) | _handed_on(machine, user, word, name, source)
    running = False
    for step in steps_outside(shell) if outside else ():
        for write in _writes_in(user.path, 0, [step.node], outside):
            again = (step.repeats and write.how is How.REBOUND) or runs_around(machine, user, step)
            yield write._replace(building=not (running or again))
        running = running or runs(machine, user, step.node)
    for chunk in user.chunks_with({word}):
        node = user.outline.node(chunk)
        if node is not None:
            own = _spelled(machine, user, imports_in(node), source, name)
            for write in _writes_in(user.path, chunk.offset, [node], _visible(node, outside) | own):
                yield write._replace(building=prepares(machine, user, node, write.node))


def _spelled(
    machine: Machine, user: Module, imports: Iterable[ast.Import | ast.ImportFrom], source: Module, name: str
) -> _Spelled:
    return frozenset(spellings(machine.project, user, imports, source, name))


def _handed_on(machine: Machine, user: Module, word: str, name: str, source: Module) -> _Spelled:
    """A name that reached the file through a module in between: what it holds tells whether it is the one."""
    if word not in user.bindings:
        return frozenset()
    value = machine.global_value(user, word)
    places = {alternative.place[:3] for alternative in value.alternatives()}
    return frozenset({(word,)}) if source.place(name)[:3] in places else frozenset()


def _visible(node: ast.AST, spelled: _Spelled) -> _Spelled:
    """The spellings whose first name is not a local variable of a function."""
    if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return spelled
    local = scope_of(node).local
    return frozenset(parts for parts in spelled if parts[0] not in local)


def _writes_in(path: str, offset: int, nodes: Iterable[ast.AST], spelled: _Spelled) -> Iterator[Write]:
    if not spelled:
        return
    for node in nodes:
        for inner in walk(node):
            if isinstance(inner, ast.Assign):
                for target in inner.targets:
                    yield from _stored(path, offset, inner, target, spelled, inner.value)
            elif isinstance(inner, (ast.AugAssign, ast.AnnAssign)) and inner.value is not None:
                yield from _stored(path, offset, inner, inner.target, spelled, inner.value)
            elif isinstance(inner, ast.Delete):
                for target in inner.targets:
                    yield from _stored(path, offset, inner, target, spelled, None)
            elif isinstance(inner, ast.Call):
                yield from _called(path, offset, inner, spelled)


def _stored(
    path: str, offset: int, node: ast.AST, target: ast.expr, spelled: _Spelled, value: ast.expr | None
) -> Iterator[Write]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for element in target.elts:
            yield from _stored(path, offset, node, element, spelled, None)
        return
    steps = steps_of(target)
    for parts in spelled:
        rest = _behind(steps, parts)
        if rest is None or (not rest and len(parts) == 1):
            continue  # assigning to an imported name rebinds it in the importing file only
        yield Write(path, offset, node, How.CHANGED if rest else How.REBOUND, rest, value)


def _called(path: str, offset: int, node: ast.Call, spelled: _Spelled) -> Iterator[Write]:
    if replaces_parameters(node):
        for argument in node.args[:2]:
            steps = steps_of(argument)
            for parts in spelled:
                rest = _behind(steps, parts)
                if rest is not None:
                    yield Write(path, offset, node, How.PARAMETERS, rest)
    elif isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method in MUTATORS or IN_PLACE.fullmatch(method):
            steps = steps_of(node.func.value)
            for parts in spelled:
                rest = _behind(steps, parts)
                if rest is not None:
                    mode = (".training",) if method in ("train", "eval") else ()
                    yield Write(path, offset, node, changed_by(node), (*rest, *mode))
    elif isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and len(node.args) >= 2:
        steps = (*steps_of(node.args[0]), *(named_by(node.args[1]) or (".",)))
        for parts in spelled:
            rest = _behind(steps, parts)
            if rest is not None and (rest or len(parts) > 1):
                yield Write(
                    path,
                    offset,
                    node,
                    How.CHANGED if rest else How.REBOUND,
                    tuple(step for step in rest if step != "."),
                )


def _behind(steps: tuple[str, ...], parts: tuple[str, ...]) -> tuple[str, ...] | None:
    """The steps that follow a spelling; None if the expression is another."""
    wanted = (parts[0], *(f".{part}" for part in parts[1:]))
    return steps[len(wanted) :] if steps[: len(wanted)] == wanted else None
