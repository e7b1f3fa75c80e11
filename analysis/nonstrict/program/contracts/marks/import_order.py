"""Which names a module imports from others, and whether it did before something was put under them there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.linking.imports import imports_in, reached

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine
    from nonstrict.program.state.mutations_protocol import Put

#: Names that modules hand on, and modules that import one another, are followed so far.
_MAX_MODULES = 40


class Imported(NamedTuple):
    """A name that a module imports from another, by which statement, and what it is called there."""

    by: Module
    statement: ast.Import | ast.ImportFrom
    source: Module
    name: str


def imports_of(machine: Machine, module: Module, name: str) -> Iterator[Imported]:
    """The imports by which a top-level name came from where it is defined, nearest first."""
    seen = set[tuple[str, str]]()
    while (found := _imported(machine, module, name)) is not None and (module.path, name) not in seen:
        seen.add((module.path, name))
        yield found
        module, name = found.source, found.name


def _imported(machine: Machine, module: Module, name: str) -> Imported | None:
    bindings = module.bindings.get(name, ())
    binding = bindings[0] if len(bindings) == 1 else None
    if binding is None or not isinstance(binding.node, (ast.Import, ast.ImportFrom)) or not binding.attribute:
        return None
    path = machine.project.find(machine.project.absolute(binding.module, binding.level, module), module)
    source = machine.project.module(path) if path is not None else None
    return Imported(module, binding.node, source, binding.attribute) if source is not None else None


def precedes(machine: Machine, imported: Imported, put: Put) -> bool | None:
    """Whether a name was imported before something else was put under it; None if that is not known."""
    user, line = put.by.user, put.by.line
    if user is imported.by:
        return not line or imported.statement.lineno < line
    for statement in sorted(imports_in(user.outline.shell), key=lambda one: one.lineno) if line else ():
        if imported.by.path in _loaded_by(machine, user, statement):
            return statement.lineno < line
    return None


def _loaded_by(machine: Machine, module: Module, statement: ast.Import | ast.ImportFrom) -> set[str]:
    """The files that an import executes, with those that they import."""
    found = set[str]()
    pending = list(_files(machine, module, statement))
    while pending and len(found) < _MAX_MODULES:
        path = pending.pop()
        loaded = machine.project.module(path) if path not in found else None
        found.add(path)
        if loaded is not None:
            pending += (one for inner in imports_in(loaded.outline.shell) for one in _files(machine, loaded, inner))
    return found


def _files(machine: Machine, module: Module, statement: ast.Import | ast.ImportFrom) -> Iterator[str]:
    known = reached(machine.project, module, statement)
    yield from (path for _, path in known.named)
    if known.source is not None:
        yield known.source
