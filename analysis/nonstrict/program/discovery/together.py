"""Which files one program may run together: what one of them sets, the other finds set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.program.linking.imports import imports_in, imports_in_functions, modules_imported, stem_of

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from nonstrict.program.domain.modules import Module
    from nonstrict.program.state.machine import Machine

#: A file that more than so many lead to is taken for one that any program may run.
_MAX_FILES = 400


class Together:
    """By file, those that lead to it, and those that it imports outside functions, as far as they were asked for."""

    def __init__(self) -> None:
        self.leading: dict[str, frozenset[str] | None] = {}
        self.imported: dict[str, frozenset[str]] = {}


def may_run_with(machine: Machine, path: str, other: str) -> bool:
    """Whether a program may run two files: one of them, or a third that imports both, perhaps through others."""
    if path == other or not {path, other} <= machine.elsewhere.found.own:
        return True
    one, another = _leading_to(machine, path), _leading_to(machine, other)
    return one is None or another is None or not one.isdisjoint(another)


def _leading_to(machine: Machine, path: str) -> frozenset[str] | None:
    """A file, and those that import it, perhaps through others; None if these are too many to go through."""
    leading = machine.part(Together).leading
    if path not in leading:
        leading[path] = _found(machine, path)
    return leading[path]


def _found(machine: Machine, path: str) -> frozenset[str] | None:
    found, pending = {path}, [path]
    while pending:
        new = set(_importers(machine, pending.pop())) - found
        found |= new
        pending += sorted(new)
        if len(found) > _MAX_FILES:
            return None
    return frozenset(found)


def _importers(machine: Machine, path: str) -> Iterator[str]:
    """The files that import one themselves; the modules of a package import what makes it a package."""
    module = machine.project.module(path)
    if module is None:
        return
    folder, name = os.path.split(path)
    if name == "__init__.py":
        inside = folder + os.sep
        yield from (other for other in machine.elsewhere.found.files if other.startswith(inside))
    for user in machine.elsewhere.importers(module):
        importing = machine.project.module(user)
        if importing is not None and _imports(machine, importing, path):
            yield user


def _imports(machine: Machine, user: Module, path: str) -> bool:
    """Whether a file imports another one, as far as its functions go by a name that holds the other's."""
    known = machine.part(Together).imported
    if user.path not in known:
        known[user.path] = frozenset(_run_by(machine, user, imports_in(user.outline.shell)))
    if path in known[user.path]:
        return True
    inside = imports_in_functions(user, stem_of(path).decode(errors="replace"))
    return any(one == path for one in _run_by(machine, user, inside))


def _run_by(machine: Machine, user: Module, imports: Iterable[ast.Import | ast.ImportFrom]) -> Iterator[str]:
    return (path for statement in imports for path in modules_imported(machine.project, user, statement))
