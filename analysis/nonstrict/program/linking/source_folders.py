"""The folders below that of a project that hold its modules, as its settings name them."""

from __future__ import annotations

import configparser
import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.program.linking.linked_projects import linked_projects
from nonstrict.program.linking.project_tables import at, entries, named, pairs, tools_of
from nonstrict.program.linking.setup_script import told_to_setup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.linking.disk import Disk

#: Sections and keys of configuration files of the older kind; pytest reads the first file that has its section.
_PYTEST = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_SETUP = (("options.packages.find", "where"), ("options", "package_dir"))
#: What `pyproject.toml` says, by the tools that build a package: folders of sources,
_FOLDERS = (
    ("setuptools", "packages", "find", "where"),
    ("hatch", "build", "sources"),
    ("hatch", "build", "dev-mode-dirs"),
    ("hatch", "build", "targets", "wheel", "sources"),
    ("maturin", "python-source"),
    ("pdm", "build", "package-dir"),
    ("uv", "build-backend", "module-root"),
)
#: folders of packages,
_PACKAGES = (
    ("hatch", "build", "packages"),
    ("hatch", "build", "targets", "wheel", "packages"),
    ("hatch", "build", "targets", "wheel", "only-include"),
    ("scikit-build", "wheel", "packages"),
)
#: tables from packages to their folders, and from folders to packages.
_FOLDER_BY_PACKAGE = (("setuptools", "package-dir"), ("scikit-build", "wheel", "packages"))
_PACKAGE_BY_FOLDER = (("hatch", "build", "sources"), ("hatch", "build", "targets", "wheel", "sources"))


class Sources(NamedTuple):
    """The absolute `folders` besides that of a project from which it imports, and `packages` that are called otherwise.

    Such a package is a dotted name and its absolute folder: `package_dir = {"kernels": "csrc/python"}`.
    """

    folders: tuple[str, ...] = ()
    packages: tuple[tuple[str, str], ...] = ()


def source_folders(root: str, disk: Disk) -> tuple[str, ...]:
    """The absolute folders besides `root` from which a project in it imports: `src`, and what its settings name."""
    return sources_of(root, disk).folders


def sources_of(root: str, disk: Disk) -> Sources:
    """What the settings of a project say of where its modules are, and those of the projects installed beside it."""
    own = _own_sources(root, disk)
    others = [(one, _own_sources(one, disk)) for one in linked_projects(root, disk)]
    folders = (*own.folders, *(folder for one, sources in others for folder in (one, *sources.folders)))
    packages = dict(own.packages)
    for package, folder in (pair for _, sources in others for pair in sources.packages):
        packages.setdefault(package, folder)
    return Sources(tuple(one for one in dict.fromkeys(folders) if one != root), tuple(packages.items()))


def _own_sources(root: str, disk: Disk) -> Sources:
    """What the settings of a project say of where its modules are; `src` is one of its folders in any case."""
    project = tools_of(root, disk)
    pythonpath = named(at(project, ("pytest", "ini_options", "pythonpath")))
    tested = _of_pytest(root, disk) or [("", name) for name in pythonpath]
    script = told_to_setup(os.path.join(root, "setup.py"), disk)
    told = [("", "src"), *tested, *_of_setup(root, disk), *script, *_built(project)]
    folders: list[str] = []
    packages: dict[str, str] = {}
    for package, name in told:
        folder = os.path.normpath(os.path.join(root, name))
        above = _above(package, folder)
        if above is not None:
            folders.append(above)
        elif disk.is_folder(folder):
            packages.setdefault(package, folder)
    known = tuple(one for one in dict.fromkeys(folders) if one != root and disk.is_folder(one))
    return Sources(known, tuple(packages.items()))


def _above(package: str, folder: str) -> str | None:
    """The folder of sources that holds a package in some folder; None if the folder is called otherwise."""
    for part in reversed(package.split(".") if package else ()):
        folder, name = os.path.split(folder)
        if name != part:
            return None
    return folder


def _of_pytest(root: str, disk: Disk) -> list[tuple[str, str]]:
    found = (_read(disk, os.path.join(root, name), section, "pythonpath") for name, section in _PYTEST)
    return [("", name) for name in next((one for one in found if one is not None), "").split()]


def _of_setup(root: str, disk: Disk) -> Iterator[tuple[str, str]]:
    """What `setup.cfg` tells setuptools: `where = lib`, or `package_dir = =lib`."""
    told = (_read(disk, os.path.join(root, "setup.cfg"), section, key) for section, key in _SETUP)
    lines = (line.strip() for value in told if value is not None for line in value.split("\n"))
    for entry in filter(None, lines):
        package, _, folder = entry.rpartition("=")
        yield package.strip(), folder.strip()


def _read(disk: Disk, path: str, section: str, key: str) -> str | None:
    content = disk.content(path)
    if content is None:
        return None
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(content.decode().replace("\r\n", "\n"))
        return parser.get(section, key)
    except (configparser.Error, UnicodeDecodeError):
        return None


def _built(tools: object) -> Iterator[tuple[str, str]]:
    """Packages ("" for any) and their folders, as `pyproject.toml` tells the tools that build."""
    for keys in _FOLDERS:
        yield from (("", name) for name in named(at(tools, keys)))
    for keys in _PACKAGES:
        yield from (("", os.path.dirname(os.path.normpath(name))) for name in named(at(tools, keys)))
    for keys in _FOLDER_BY_PACKAGE:
        yield from pairs(at(tools, keys))
    for keys in _PACKAGE_BY_FOLDER:
        yield from ((package, folder) for folder, package in pairs(at(tools, keys)))
    for entry in entries(at(tools, ("poetry", "packages"))):
        yield from (("", name) for name in named(at(entry, ("from",))))
