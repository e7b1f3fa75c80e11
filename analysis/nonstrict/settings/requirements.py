"""Versions that a project asks for: of nonstrict itself (`required-version`), and of Python (`requires-python`)."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from nonstrict.knowledge.standard_library import NEWEST_PYTHON, OLDEST_PYTHON

if TYPE_CHECKING:
    from packaging.specifiers import SpecifierSet

#: A version of Python: its first two numbers.
Python = tuple[int, int]


class _State(NamedTuple):
    """What tells that a file is the one that was read."""

    changed: int
    size: int
    number: int


def specifiers(text: str) -> SpecifierSet | None:
    """The versions that a requirement allows; one without an operator allows itself. None if it is no requirement."""
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    stripped = text.strip()
    try:
        return SpecifierSet(f"=={stripped}" if re.match(r"v?\d", stripped) else stripped) if stripped else None
    except InvalidSpecifier:
        return None


def is_fulfilled(requirement: str, version: str) -> bool:
    """Whether a version is among those that a valid requirement allows; releases on the way to it count."""
    allowed = specifiers(requirement)
    return allowed is None or allowed.contains(version, prereleases=True)


def required_python(folder: str) -> Python | None:
    """The lowest Python that `requires-python` in the `pyproject.toml` of a folder allows; None if nothing says so."""
    path = os.path.join(folder, "pyproject.toml")
    try:
        status = os.stat(path)
    except OSError:
        return None
    return _required(path, _State(status.st_mtime_ns, status.st_size, status.st_ino))


@lru_cache(maxsize=64)
def _required(path: str, state: _State) -> Python | None:
    """What a file that is in some state says: each is read once, and again where it was changed."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return None
    return _lowest(_stated(path, data)) if b"requires-python" in data else None


def _stated(path: str, data: bytes) -> str:
    """`requires-python`, "" if it is not there, or the file is not valid, which its own tools tell."""
    from nonstrict.settings.errors import ConfigurationError
    from nonstrict.settings.toml import parsed

    try:
        project = parsed(path, data.decode("utf-8-sig", "replace").replace("\r\n", "\n")).get("project")
    except ConfigurationError:
        return ""
    stated = cast("dict[str, object]", project).get("requires-python") if isinstance(project, dict) else None
    return stated if isinstance(stated, str) else ""


def _lowest(requirement: str) -> Python | None:
    """The lowest known Python that has a release which a requirement allows."""
    allowed = specifiers(requirement)
    if allowed is None:
        return None
    for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1):
        # A bound such as `>=3.10.4` or `!=3.9.1` leaves later patches.
        if any(allowed.contains(f"3.{minor}.{patch}") for patch in (0, 1, 99)):
            return 3, minor
    return None
