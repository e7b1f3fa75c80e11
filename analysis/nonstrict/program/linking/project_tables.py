"""What `pyproject.toml` says to tools, as far as it has the expected form."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterable

    from nonstrict.program.linking.disk import Disk


def tools_of(root: str, disk: Disk) -> object:
    """The tables of tools in the `pyproject.toml` of a folder."""
    content = disk.content(os.path.join(root, "pyproject.toml"))
    return _tools_in(content) if content is not None else {}


@lru_cache(maxsize=256)
def _tools_in(content: bytes) -> object:
    """The tables of tools in what a file holds."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(content.decode().replace("\r\n", "\n")).get("tool", {})
    except (ValueError, RecursionError):
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
