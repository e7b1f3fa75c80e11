"""By which name, and from which folders, files of a project are imported: what the analysis found, for experiments."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.linking.project import Project
from nonstrict.text.source import Source, source_kind

if TYPE_CHECKING:
    from nonstrict.program.domain.modules import Module

#: The module that a file becomes whose name cannot be imported: `train-2.py`.
_UNNAMED = "program"


class Imported(NamedTuple):
    """How a file is imported.

    `name` is its dotted name, `package` that of the package it lies in, or is. `folders` are those in which modules are
    looked for before any others, that of its outermost package last, `further` those in which they are looked for
    behind the standard library; all are absolute, and in order. `packages` are (dotted name, absolute folder) of those
    whose folders are called otherwise.
    """

    name: str = _UNNAMED
    package: str = ""
    folders: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    packages: tuple[tuple[str, str], ...] = ()


def imported_as(path: str, text: str) -> Imported:
    """How a file with some text is imported."""
    project, module = _loaded(path, text)
    folders = project.folders_of(module)
    first = folders.index(project.name_of(module.path)[0]) + 1
    package, _, own = module.name.rpartition(".")
    name = ".".join(filter(None, [package, own if own.isidentifier() else _UNNAMED]))
    return Imported(
        name, name if module.is_package else package, folders[:first], folders[first:], project.renamed(module)
    )


def name_from(path: str, text: str, other: str) -> str:
    """The dotted name by which a file with some text reaches the module in another file."""
    project, module = _loaded(path, text)
    if os.path.abspath(other) == module.path:
        return imported_as(path, text).name
    named = project.name_of(os.path.abspath(other))[1]
    return next(iter(project.spellings(os.path.abspath(other), module)), named)


def _loaded(path: str, text: str) -> tuple[Project, Module]:
    project, absolute = Project(), os.path.abspath(path)
    source = Source(path=absolute, kind=source_kind(absolute), text=text, code=text)
    return project, project.add(absolute, source)
