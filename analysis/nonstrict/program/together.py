"""Which files one program may run together: what one of them sets, the other finds set."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nonstrict.program.writers.elsewhere import imports_of, modules_imported, stem_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.machine import Machine
    from nonstrict.program.modules import Module

#: A file that more than so many lead to is taken for one that any program may run.
_MAX_FILES = 400


def may_run_with(machine: Machine, path: str, other: str) -> bool:
    """Whether a program may run two files: one of them, or a third that imports both, perhaps through others."""
    if path == other or not {path, other} <= machine.elsewhere.found.own:
        return True
    one, another = _leading_to(machine, path), _leading_to(machine, other)
    return one is None or another is None or not one.isdisjoint(another)


def _leading_to(machine: Machine, path: str) -> frozenset[str] | None:
    """A file, and those that import it, perhaps through others; None if these are too many to go through."""
    if path not in machine.leading:
        machine.leading[path] = _found(machine, path)
    return machine.leading[path]


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
        if importing is not None and path in _imported(machine, importing, stem_of(path).decode(errors="replace")):
            yield user


def _imported(machine: Machine, user: Module, word: str) -> set[str]:
    """The files of the project that a file imports, as far as its functions go, by a name that holds a word."""
    statements = imports_of(user, word)
    return {path for statement in statements for path in modules_imported(machine.project, user, statement)}
