"""Writes of a module's names by other files: `settings.mode = "fast"`, `CACHE.clear()` behind an import."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from nonstrict.facts.scopes import scope_of
from nonstrict.facts.walk import walk
from nonstrict.program.values import CALLABLES, PRIMITIVES, Kind
from nonstrict.program.writers.elsewhere import imports_in, spellings
from nonstrict.program.writers.writes import (
    IN_PLACE,
    MUTATORS,
    Write,
    changed_by,
    replaces_parameters,
    runs,
    simple_statements,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

_FIXED = PRIMITIVES | CALLABLES | {Kind.TUPLE}
#: How a name of another module is rebound: `module.name = …`, `module.name += …`, `setattr(module, "name", …)`, `del`.
_REBINDS = r"""\.{0}\s*(?:[-+*/|&@%^<>]*=(?!=)|[,:][^\n()]*=)|["']{0}["']|\bdel\b[^\n]*\.{0}\b"""
_Spelled = frozenset[tuple[str, ...]]


def foreign_writes(machine: Machine, module: Module, name: str) -> list[Write]:
    """The writes of a top-level name of a module, or of what it leads to, in other files of the run."""
    found: list[Write] = []
    held = machine.global_value(module, name)
    # What cannot be changed in place is only written through the module itself, never through an imported name.
    changeable = any(alternative.kind not in _FIXED for alternative in held.alternatives())
    text = None if changeable else re.compile(_REBINDS.format(re.escape(name)))
    for use in machine.elsewhere.users(module, name, hand_on=changeable, text=text):
        found.extend(in_module(machine, use.module, module, use.name, name))
    return list({(write.path, id(write.node)): write for write in found}.values())


def in_module(machine: Machine, user: Module, source: Module, word: str, name: str) -> Iterator[Write]:
    """The writes of a name of `source` in a file that uses it by `word`.

    Writes outside functions count once the file has called something; those in functions always do.
    """
    shell = user.outline.shell
    outside = _spelled(machine, user, imports_in(shell), source, name) | _handed_on(machine, user, word, name, source)
    running = False
    for statement in simple_statements(shell.body):
        if running:
            yield from _writes_in(user.path, 0, [statement], outside)
        running = running or runs(machine, user, statement)
    for chunk in user.chunks_with({word}):
        node = user.outline.node(chunk)
        if node is not None:
            own = _spelled(machine, user, imports_in(node), source, name)
            yield from _writes_in(user.path, chunk.offset, [node], _visible(node, outside) | own)


def _spelled(
    machine: Machine, user: Module, imports: Iterable[ast.Import | ast.ImportFrom], source: Module, name: str
) -> _Spelled:
    return frozenset(spellings(machine.project, user, imports, source, name))


def _handed_on(machine: Machine, user: Module, word: str, name: str, source: Module) -> _Spelled:
    """A name that reached the file through a module in between: what it holds tells whether it is the one."""
    if word not in user.bindings:
        return frozenset()
    value = machine.global_value(user, word)
    places = {(alternative.place.owner, alternative.place.name) for alternative in value.alternatives()}
    return frozenset({(word,)}) if (source.path, name) in places else frozenset()


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
    steps = _steps(target)
    for parts in spelled:
        rest = _behind(steps, parts)
        if rest is None or (not rest and len(parts) == 1):
            continue  # assigning to an imported name rebinds it in the importing file only
        yield Write(path, offset, node, "changed here" if rest else "rebound here", _attribute(rest), value)


def _called(path: str, offset: int, node: ast.Call, spelled: _Spelled) -> Iterator[Write]:
    if replaces_parameters(node):
        for argument in node.args[:2]:
            steps = _steps(argument)
            for parts in spelled:
                rest = _behind(steps, parts)
                if rest is not None:
                    yield Write(path, offset, node, "its parameters are replaced here", _attribute(rest))
    elif isinstance(node.func, ast.Attribute):
        method = node.func.attr
        if method in MUTATORS or IN_PLACE.fullmatch(method):
            steps = _steps(node.func.value)
            for parts in spelled:
                rest = _behind(steps, parts)
                if rest is not None:
                    attribute = _attribute(rest) or ("training" if method in ("train", "eval") else "")
                    yield Write(path, offset, node, changed_by(node), attribute)
    elif isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr") and len(node.args) >= 2:
        key = node.args[1]
        named = f".{key.value}" if isinstance(key, ast.Constant) and isinstance(key.value, str) else "."
        steps = [*_steps(node.args[0]), named]
        for parts in spelled:
            rest = _behind(steps, parts)
            if rest is not None and (rest or len(parts) > 1):
                yield Write(path, offset, node, "changed here" if rest else "rebound here", _attribute(rest))


def _steps(node: ast.AST) -> list[str]:
    """`a.b["k"].c` as `["a", ".b", "[]", ".c"]`, `vars(a)["b"]` as `["a", ".b"]`; empty if the root is no name."""
    steps: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        member = _namespace(node)
        if member is not None:
            steps.append(f".{member[1]}")
            node = member[0]
            continue
        steps.append(f".{node.attr}" if isinstance(node, ast.Attribute) else "[]")
        node = node.value
    return [node.id, *reversed(steps)] if isinstance(node, ast.Name) else []


def _namespace(node: ast.Attribute | ast.Subscript) -> tuple[ast.expr, str] | None:
    """The object and name that `vars(a)["b"]` or `a.__dict__["b"]` mean."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Constant):
        return None
    base, name = node.value, str(node.slice.value)
    if isinstance(base, ast.Attribute) and base.attr == "__dict__":
        return base.value, name
    if isinstance(base, ast.Call) and getattr(base.func, "id", "") == "vars" and base.args:
        return base.args[0], name
    return None


def _behind(steps: list[str], parts: tuple[str, ...]) -> list[str] | None:
    """The steps that follow a spelling; None if the expression is another."""
    wanted = [parts[0], *(f".{part}" for part in parts[1:])]
    return steps[len(wanted) :] if steps[: len(wanted)] == wanted else None


def _attribute(rest: list[str]) -> str:
    return next((step[1:] for step in rest if step.startswith(".")), "")
