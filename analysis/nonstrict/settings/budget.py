"""The compile budget: how many graphs and recompilations a region, or all below a folder, may have."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

#: What is counted of a region.
NUMBERS = ("graphs", "recompilations")
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

    @property
    def place(self) -> str:
        """The file, folder or module."""
        return self.key.partition("::")[0]

    def allowed(self, number: str) -> int | None:
        """What it allows of one of `NUMBERS`."""
        return {"graphs": self.graphs, "recompilations": self.recompilations}[number]

    @property
    def is_gone(self) -> bool:
        """Whether there is nothing any more where it is about something."""
        return not any(os.path.exists(one) for one in _places(self.place, self.base))

    def covers(self, path: str, function: str) -> bool:
        """Whether it is about a function of an absolute path."""
        return covers(self.place, self.function, path, function, self.base)


def covers(place: str, name: str, path: str, function: str, base: str) -> bool:
    """Whether a place, and a name in it or "", mean a function of an absolute path.

    A place is a file or a folder below `base`, or the dotted name of a module or package in it; the name is that of the
    function, or the class of a module.
    """
    if name and function not in {name, f"{name}.forward"}:
        return False
    return any(path == one or path.startswith(os.path.join(one, "")) for one in _places(place, base))


def governing(budgets: Iterable[Budget], number: str, path: str, function: str) -> Budget | None:
    """The entry that limits a number of a function: of several, the one that says most closely where it is."""
    own = [one for one in budgets if one.allowed(number) is not None and one.covers(path, function)]
    return max(own, key=lambda one: (bool(one.function), *_depth(one)), default=None)


def _depth(entry: Budget) -> tuple[int, int]:
    """How far down an entry is, and how far down it is written: that of a sub-project counts more."""
    folders = entry.base.rstrip(os.sep).count(os.sep)
    return folders + len(_as_path(entry.place).split("/")), folders


def _places(place: str, base: str) -> set[str]:
    """The absolute paths that a place may mean."""
    ends = {place, _as_path(place)}
    there = {os.path.normpath(os.path.join(base, folder, end)) for folder in _SOURCES for end in ends}
    return there | {f"{one}.py" for one in there}


def _as_path(place: str) -> str:
    """A place as a path; "" for the root."""
    dotted = "/" not in place and not place.endswith(".py")
    return place.strip(".").replace(".", "/") if dotted else place
