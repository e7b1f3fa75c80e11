"""The folders in which Python looks for what a file imports, as far as the file and the folders around it tell.

Which folders are on `sys.path` depends on how a program is started: the folder of the script comes first, the working
directory with `-m` and with test runners, both usually folders of the project. All folders around the file up to the
root of the project count, the nearest first, each with its `src` and what its settings name as folders of sources; what
the file itself and the modules that it imports put on `sys.path` goes before or behind them, and what tests find set up
by `conftest.py` behind all.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from nonstrict.program.linking import sys_path
from nonstrict.program.linking.disk import Disk

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.program.domain.modules import Module

#: What stands in the root of a project: no import leads out of it.
_PROJECT = (".git", ".hg", "pyproject.toml", "setup.py", "setup.cfg")
#: How many folders above a file count where nothing marks the root of a project.
_MAX_ABOVE = 5
#: The module of a folder that pytest imports first.
_PREPARING = "conftest"
_RELATIVE = re.compile(r"^[ \t]*from[ \t]+(\.+)", re.MULTILINE)


class Places(Protocol):
    """What is asked of the project."""

    @property
    def disk(self) -> Disk:
        """What tells which files there are."""
        ...

    def sources(self, folder: str) -> tuple[str, ...]:
        """The folders of sources that a project in a folder has (`nonstrict.program.linking.source_folders`)."""
        ...

    def changing(self, folder: str, dotted: str, importer: Module) -> Module | None:
        """The module of a dotted name below a folder, if it may put something on `sys.path`."""
        ...


def import_root(path: str, code: str, is_package: Callable[[str], bool]) -> tuple[str, str]:
    """The folder that holds the outermost package of a file, or the file itself, and the file's dotted name below it.

    A folder without `__init__.py` is a package too if the file imports relative to it.
    """
    folder, base = os.path.split(os.path.abspath(path))
    stem = base.rpartition(".")[0]
    packages: list[str] = []
    level = relative_level(code)
    while is_package(folder) or len(packages) < level:
        folder, part = os.path.split(folder)
        if not part:
            break
        packages.insert(0, part)
    return folder, ".".join(packages if stem == "__init__" else [*packages, stem])


def has_init(folder: str, disk: Disk) -> bool:
    """Whether a folder is a package by its `__init__.py`."""
    return bool(folder) and disk.is_file(os.path.join(folder, "__init__.py"))


def project_of(path: str, code: str) -> str:
    """The folder of the project of a file; where nothing marks one, its outermost package, or its own folder."""
    disk = Disk()
    root, name = import_root(path, code, lambda folder: has_init(folder, disk))
    top = folders_above(root, disk)[-1]
    if _is_project(top, disk):
        return top
    package = os.path.join(root, name.partition(".")[0])
    return package if disk.is_folder(package) else root


def relative_level(code: str) -> int:
    """How many packages a file lies in at least, for its relative imports to lead anywhere."""
    return max((len(dots) for dots in _RELATIVE.findall(code)), default=0) if "from ." in code else 0


def search_path(module: Module, root: str, ends: frozenset[str], places: Places) -> tuple[str, ...]:
    """The absolute folders from which the absolute imports of a file are looked up, in order.

    `root` is the folder that holds the outermost package of the file, or the file itself; `ends` are folders from which
    nothing leads up: those of installed packages.
    """
    around = folders_above(root, places.disk, ends)

    def changing(folder: str, dotted: str) -> Module | None:
        return places.changing(folder, dotted, module)

    added = sys_path.additions(module, around, changing, places.disk)
    # pytest imports these before the tests below them.
    prepared = [one for folder in around if (one := changing(folder, _PREPARING)) is not None and one is not module]
    tested = [sys_path.additions(one, around, changing, places.disk) for one in prepared]
    # A file that imports by the name of a folder that it lies in is not run from within that folder.
    named = [above for below, above in pairwise(around) if _names(module.source.code, os.path.basename(below))]
    with_sources = [one for folder in (*named, *around) for one in (folder, *places.sources(folder))]
    further = [folder for one in tested for folder in (*one.before, *one.behind)]
    return tuple(dict.fromkeys((*added.before, *with_sources, *added.behind, *further)))


def folders_above(root: str, disk: Disk, ends: frozenset[str] = frozenset()) -> list[str]:
    """A folder and those above it, up to the root of the project or one of `ends`."""
    around = [root]
    while not _ends(around[-1], disk) and around[-1] not in ends and len(around) <= _MAX_ABOVE:
        parent = os.path.dirname(around[-1])
        if os.path.dirname(parent) == parent:
            break
        around.append(parent)
    return around


def _names(code: str, folder: str) -> bool:
    """Whether a text imports by the name of a folder."""
    if f"from {folder}" not in code and f"import {folder}" not in code:
        return False
    return re.search(rf"^[ \t]*(?:from|import)[ \t]+{re.escape(folder)}\.", code, re.MULTILINE) is not None


def _is_project(folder: str, disk: Disk) -> bool:
    return any(disk.exists(os.path.join(folder, name)) for name in _PROJECT)


def _ends(folder: str, disk: Disk) -> bool:
    """Whether no import leads out of a folder: it holds a project, or an environment."""
    return _is_project(folder, disk) or disk.is_file(os.path.join(folder, "pyvenv.cfg"))
