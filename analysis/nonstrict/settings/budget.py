"""The compile budget: how many graphs and recompilations a region, or all below a folder, may have."""

from __future__ import annotations

import os
from typing import NamedTuple

#: Folders in which packages lie, from the root of a project.
_SOURCES = ("", "src")


class Budget(NamedTuple):
    """An entry: `key` as it is written, relative to the absolute directory `base`, and what it allows.

    A number that is None is not limited.
    """

    key: str
    base: str
    graphs: int | None = None
    recompilations: int | None = None

    @property
    def function(self) -> str:
        """The function that it is about; "" if all that lies there is meant."""
        return self.key.partition("::")[2]

    def covers(self, path: str, function: str) -> bool:
        """Whether it is about a function of an absolute path."""
        return covers(self.key.partition("::")[0], self.function, path, function, self.base)


def covers(place: str, name: str, path: str, function: str, base: str) -> bool:
    """Whether a place, and a name in it or "", mean a function of an absolute path.

    A place is a file or a folder below `base`, or the dotted name of a module or package in it; the name is that of the
    function, or the class of a module.
    """
    if name and function not in {name, f"{name}.forward"}:
        return False
    ends = (place,) if "/" in place or place.endswith(".py") else (place, place.replace(".", "/"))
    there = {os.path.normpath(os.path.join(base, folder, end)) for folder in _SOURCES for end in ends}
    return any(path in {one, f"{one}.py"} or path.startswith(os.path.join(one, "")) for one in there)
