"""What `pyproject.toml` says to tools, as far as it has the expected form."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable


def tools_of(root: str) -> object:
    """The tables of tools in the `pyproject.toml` of a folder."""
    path = os.path.join(root, "pyproject.toml")
    try:
        status = os.stat(path)
    except OSError:
        return {}
    return _read(path, (status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=256)
def _read(path: str, state: tuple[int, int, int]) -> object:
    """The tables of tools in a file, which is in some state: each is read once, and again where it was changed."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        with open(path, "rb") as file:
            return tomllib.load(file).get("tool", {})
    except (OSError, ValueError, RecursionError):
        return {}


def pairs(value: object) -> Iterable[tuple[str, str]]:
    """The entries of a table that are strings."""
    table = cast("dict[object, object]", value) if isinstance(value, dict) else {}
    return [(key, one) for key, one in table.items() if isinstance(key, str) and isinstance(one, str)]


def tables(value: object) -> list[object]:
    """The entries of a table, whatever they are."""
    return list(cast("dict[object, object]", value).values()) if isinstance(value, dict) else []


def at(table: object, keys: tuple[str, ...]) -> object:
    """What stands below some keys; None if nothing does."""
    for key in keys:
        table = cast("dict[str, object]", table).get(key) if isinstance(table, dict) else None
    return table


def entries(value: object) -> list[object]:
    """The entries of a list."""
    return cast("list[object]", value) if isinstance(value, list) else []


def named(value: object) -> list[str]:
    """The folders that a setting names: one, several in a string, or a list of them."""
    if isinstance(value, str):
        return value.split()
    return [str(entry) for entry in entries(value)]
