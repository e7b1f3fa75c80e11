"""The projects on the disk that are installed together with one: dependencies by path, and members of its workspace.

Package managers install them so that imports lead to their sources: uv by `[tool.uv.workspace]` and
`[tool.uv.sources]`, poetry by dependencies with a `path`.
"""

from __future__ import annotations

import os
from glob import escape
from typing import TYPE_CHECKING

from nonstrict.program.linking.project_tables import at, entries, named, tables, tools_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.linking.disk import Disk

_SETTINGS = "pyproject.toml"
_WORKSPACE = ("uv", "workspace")
_SOURCES = ("uv", "sources")
_POETRY = ("poetry", "dependencies")
_GROUPS = ("poetry", "group")
#: How many folders above a project the root of its workspace may be.
_MAX_ABOVE = 5


def linked_projects(root: str, disk: Disk) -> tuple[str, ...]:
    """The absolute folders of the other projects that a project in an absolute folder can import from."""
    if not disk.is_file(os.path.join(root, _SETTINGS)):
        return ()
    found: dict[str, None] = {}
    pending = [root, *_dependencies(root, disk), *_workspace(root, disk)]
    while pending:
        one = pending.pop(0)
        if one not in found:
            found[one] = None
            pending += _dependencies(one, disk)
    found.pop(root)
    return tuple(found)


def _dependencies(root: str, disk: Disk) -> Iterator[str]:
    """The folders of dependencies that are given by their path; archives have no sources to import from."""
    tools = tools_of(root, disk)
    groups = (at(group, ("dependencies",)) for group in tables(at(tools, _GROUPS)))
    for dependencies in (at(tools, _SOURCES), at(tools, _POETRY), *groups):
        for told in tables(dependencies):
            # One for each platform, say.
            for one in entries(told) or [told]:
                path = at(one, ("path",))
                folder = os.path.normpath(os.path.join(root, path)) if isinstance(path, str) else ""
                if disk.is_folder(folder):
                    yield folder


def _workspace(root: str, disk: Disk) -> tuple[str, ...]:
    """The projects of the workspace that a project is the root or a member of."""
    here = root
    for _ in range(_MAX_ABOVE):
        members = _members(here, disk)
        if members is not None:
            return (here, *members) if root in (here, *members) else ()
        here = os.path.dirname(here)
    return ()


def _members(root: str, disk: Disk) -> list[str] | None:
    """The members of the workspace whose root a folder is; None if it is none."""
    tools = tools_of(root, disk)
    if not isinstance(at(tools, _WORKSPACE), dict):
        return None
    excluded = set(_matching(root, disk, named(at(tools, (*_WORKSPACE, "exclude")))))
    found = [one for one in _matching(root, disk, named(at(tools, (*_WORKSPACE, "members")))) if one not in excluded]
    return [one for one in dict.fromkeys(found) if disk.is_file(os.path.join(one, _SETTINGS))]


def _matching(root: str, disk: Disk, patterns: list[str]) -> Iterator[str]:
    """The folders that some patterns match below a folder."""
    for pattern in patterns:
        yield from (os.path.normpath(one) for one in disk.matching(os.path.join(escape(root), pattern)))
