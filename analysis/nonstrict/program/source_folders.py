"""The folders below that of a project that hold its modules, as its settings name them."""

from __future__ import annotations

import configparser
import os
import sys
from typing import cast

#: Sections and keys of configuration files of the older kind; pytest reads the first file that has its section.
_PYTEST = (("pytest.ini", "pytest"), ("tox.ini", "pytest"), ("setup.cfg", "tool:pytest"))
_SETUP = (("options.packages.find", "where"), ("options", "package_dir"))
#: Where the sources are, by the tools that build a package, in `pyproject.toml`.
_TABLES = (
    ("setuptools", "packages", "find", "where"),
    ("setuptools", "package-dir", ""),
    ("maturin", "python-source"),
    ("pdm", "build", "package-dir"),
)


def source_folders(root: str) -> tuple[str, ...]:
    """The absolute folders besides `root` from which a project in it imports: `src`, and what its settings name."""
    project = _of_pyproject(os.path.join(root, "pyproject.toml"))
    tested = _of_pytest(root) or project.get("pytest", [])
    named = ("src", *tested, *_of_setup(root), *project.get("built", []))
    folders = (os.path.normpath(os.path.join(root, name)) for name in named)
    return tuple(folder for folder in dict.fromkeys(folders) if folder != root and os.path.isdir(folder))


def _of_pytest(root: str) -> list[str]:
    found = (_read(os.path.join(root, name), section, "pythonpath") for name, section in _PYTEST)
    return next((one for one in found if one is not None), "").split()


def _of_setup(root: str) -> list[str]:
    """What `setup.cfg` tells setuptools: `where = lib`, or `package_dir = =lib`."""
    told = (_read(os.path.join(root, "setup.cfg"), section, key) for section, key in _SETUP)
    entries = (line.strip() for value in told if value is not None for line in value.split("\n"))
    return [entry.lstrip("= ") for entry in entries if entry and "=" not in entry.lstrip("= ")]


def _read(path: str, section: str, key: str) -> str | None:
    if not os.path.isfile(path):
        return None
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read(path, encoding="utf-8")
        return parser.get(section, key)
    except (configparser.Error, UnicodeDecodeError):
        return None


def _of_pyproject(path: str) -> dict[str, list[str]]:
    if not os.path.isfile(path):
        return {}
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as file:
            tools = tomllib.load(file).get("tool", {})
    except (OSError, ValueError, RecursionError):
        return {}
    built = [name for keys in _TABLES for name in _named(_at(tools, keys))]
    packages = _at(tools, ("poetry", "packages"))
    for entry in _list(packages):
        built += _named(_at(entry, ("from",)))
    return {"pytest": _named(_at(tools, ("pytest", "ini_options", "pythonpath"))), "built": built}


def _at(table: object, keys: tuple[str, ...]) -> object:
    for key in keys:
        table = cast("dict[str, object]", table).get(key) if isinstance(table, dict) else None
    return table


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []


def _named(value: object) -> list[str]:
    """The folders that a setting names: one, several in a string, or a list of them."""
    if isinstance(value, str):
        return value.split()
    return [str(entry) for entry in _list(value)]
