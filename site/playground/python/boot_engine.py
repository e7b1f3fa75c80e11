"""Has Python import the engine from the table of its compiled modules, which the build made (`compile_modules`).

The worker runs this as a script, with the archive of the engine unpacked in `FOLDER`.
"""

from __future__ import annotations

import marshal
import sys
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Iterator
    from importlib.abc import Loader
    from types import ModuleType

FOLDER = "/lib/engine"
_PACKAGE = "/__init__"

with open(f"{FOLDER}/modules.marshal", "rb") as file:
    _TABLE: dict[str, bytes] = marshal.load(file)  # noqa: S302 - our own, from the archive that holds this


class Modules:
    """The modules of one folder of the engine, for the imports of Python."""

    def __init__(self, folder: str) -> None:
        """Take a folder of the engine.

        Raises:
            ImportError: it is another folder, for which this is not meant.
        """
        if folder != FOLDER and not folder.startswith(f"{FOLDER}/"):
            raise ImportError(folder)
        self._inside = f"{folder.removeprefix(FOLDER)}/".removeprefix("/")

    def find_spec(self, name: str, target: ModuleType | None = None) -> ModuleSpec | None:
        """Where a module is, if it is here."""
        place = self._inside + name.rpartition(".")[2]
        is_package = place + _PACKAGE in _TABLE
        if not is_package and place not in _TABLE:
            return None
        file = place + _PACKAGE if is_package else place
        spec = ModuleSpec(name, cast("Loader", Code(file)), origin=f"{FOLDER}/{file}.py", is_package=is_package)
        spec.has_location = True
        if is_package:
            spec.submodule_search_locations = [f"{FOLDER}/{place}"]
        return spec

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """The names of the modules here, and whether they are packages, for `pkgutil`."""
        for place in _TABLE:
            if place.startswith(self._inside):
                name = place.removeprefix(self._inside).removesuffix(_PACKAGE)
                if "/" not in name and name != "__init__":
                    yield prefix + name, place.endswith(_PACKAGE)


class Code:
    """Runs the code of one module."""

    def __init__(self, place: str) -> None:
        """Take a module by its place in the table."""
        self._place = place

    def create_module(self, spec: ModuleSpec) -> None:
        """Python makes the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Run the code."""
        exec(marshal.loads(_TABLE[self._place]), module.__dict__)  # noqa: S102, S302 - as any import


sys.path_hooks.insert(0, Modules)
sys.path.insert(0, FOLDER)
