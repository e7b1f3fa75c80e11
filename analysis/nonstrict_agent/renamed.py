"""Imports of packages whose folders are called otherwise, as an editable installation of their project has them."""

from __future__ import annotations

import importlib.machinery
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def install(packages: Mapping[str, str]) -> None:
    """Let imports find packages by their dotted names in some folders, and packages that hold nothing but those."""
    if packages:
        sys.meta_path.insert(0, _Renamed(packages))
        sys.meta_path.append(_Outer(packages))


class _Renamed:
    """Finds the packages."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        self._packages = dict(packages)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """Where a module is, if it is one of the packages."""
        folder = self._packages.get(name)
        if folder is None:
            return None
        spec = _namespace(name, [folder])
        # Whoever reads files of the folder, unsaved buffers among them, reads this one too.
        found = importlib.machinery.PathFinder.find_spec("__init__", [folder])
        if found is not None and found.loader is not None and found.origin is not None:
            kind: Any = type(found.loader)
            spec.loader, spec.origin = kind(name, found.origin), found.origin
            spec.has_location = True
        return spec


class _Outer:
    """Stands in for packages that no folder holds, and that the names of others begin with."""

    def __init__(self, packages: Mapping[str, str]) -> None:
        parts = [name.split(".") for name in packages]
        self._names = {".".join(own[:count]) for own in parts for count in range(1, len(own))}

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        """A package without a folder."""
        return _namespace(name, []) if name in self._names else None


def _namespace(name: str, folders: list[str]) -> importlib.machinery.ModuleSpec:
    spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
    spec.submodule_search_locations = [os.path.abspath(one) for one in folders]
    return spec
