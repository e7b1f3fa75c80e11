"""Which further files the settings of a configuration file come from."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator


def configuration_files(path: str) -> tuple[str, ...]:
    """A configuration file, and those that it extends, as far as they can be read: absolute paths."""
    return tuple(_chain(path))


def _chain(path: str) -> Iterator[str]:
    seen = set[str]()
    here: str | None = path
    while here is not None and here not in seen:
        seen.add(here)
        yield here
        extended = _extended(here)
        folder = os.path.dirname(here)
        here = os.path.normpath(os.path.join(folder, os.path.expanduser(extended))) if extended else None


def _extended(path: str) -> str:
    """What a file names as `extend`; nothing where that cannot be told."""
    from nonstrict.settings.toml import parsed

    try:
        with open(path, encoding="utf-8-sig") as file:
            content = parsed(path, file.read())
    except Exception:  # noqa: BLE001 - told where the settings are read
        return ""
    if os.path.basename(path) == "pyproject.toml":
        content = _table(_table(content.get("tool")).get("nonstrict"))
    extended = content.get("extend")
    return extended if isinstance(extended, str) else ""


def _table(value: object) -> dict[str, object]:
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}
