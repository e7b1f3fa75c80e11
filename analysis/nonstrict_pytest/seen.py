"""What was compiled, as tests ask for it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from nonstrict_pytest.expected import is_named
from nonstrict_pytest.listening import told

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from nonstrict_agent.observe.compiling import Called


class GraphBreak(NamedTuple):
    """A place where torch left a graph: the innermost line of the project that leads there, and torch's reason.

    `id` is torch's own of such breaks (`GB0059`), `hint` its advice, `function` the region. `library` is the place in a
    library, `PATH:LINE`, that the line leads to, "" where it breaks itself.
    """

    path: str
    line: int
    reason: str
    id: str
    hint: str
    function: str
    library: str = ""

    @property
    def text(self) -> str:
        """The reason, with the id."""
        return f"{self.reason} ({self.id})" if self.id else self.reason


class Recompilation(NamedTuple):
    """One more compilation of a function: the guard that failed, and where it was made."""

    path: str
    line: int
    guard: str
    function: str


class Seen:
    """What torch compiled in a test or a block, of all regions or of those that are named.

    It is told by what the agent hears of regions, which is `filled` in meanwhile.
    """

    def __init__(self, filled: Sequence[Called], only: Sequence[str], root: str) -> None:
        self._filled = filled
        self._only = only
        self._root = root

    @property
    def everything(self) -> list[Called]:
        """What the agent told, of all regions."""
        told()
        return list(self._filled)

    @property
    def calls(self) -> list[Called]:
        """What the agent told of the regions that are meant."""
        only = self._only
        return [one for one in self.everything if not only or any(self._is(one, name) for name in only)]

    def _is(self, call: Called, name: str) -> bool:
        return is_named(name, call["path"], call["function"].replace(".<locals>", ""), self._root)

    @property
    def graphs(self) -> int:
        """The graphs of code that was compiled for the first time."""
        return sum(len(one["compiled"]["graphs"]) for one in self.calls if not one["compiled"]["again"])

    @property
    def breaks(self) -> tuple[GraphBreak, ...]:
        """The graph breaks, each place and reason once."""
        return tuple(dict.fromkeys(self._breaks()))

    @property
    def recompilations(self) -> tuple[Recompilation, ...]:
        """What was compiled again, in order."""
        return tuple(one for one, limit in self._again() if not limit)

    @property
    def given_up(self) -> tuple[Recompilation, ...]:
        """What torch left to plain Python, because it had been compiled as often as it may be."""
        return tuple(one for one, limit in self._again() if limit)

    def number(self, name: str) -> int:
        """How many `graphs`, `breaks` or `recompilations` there are."""
        return {"graphs": self.graphs, "breaks": len(self.breaks), "recompilations": len(self.recompilations)}[name]

    def _breaks(self) -> Iterator[GraphBreak]:
        for call in self.calls:
            for one in call["compiled"]["breaks"]:
                path, line = one["lines"][-1][:2]
                library = ":".join(map(str, one["inner"]))
                yield GraphBreak(path, line, one["type"], one["id"], one["hint"], call["function"], library)

    def _again(self) -> Iterator[tuple[Recompilation, bool]]:
        for call in self.calls:
            for one in call["compiled"]["again"]:
                own = [one["path"], one["line"]] if one["path"] == call["path"] else [call["path"], call["line"]]
                path, line = (one["lines"] or [own])[-1]
                yield Recompilation(path, line, one["guard"], one["function"]), one["limit"]

    def __repr__(self) -> str:
        """The numbers."""
        return f"<graphs: {self.graphs}, breaks: {len(self.breaks)}, recompilations: {len(self.recompilations)}>"


def shown_path(path: str) -> str:
    """A path as tests are shown: relative, below the working directory."""
    below = os.path.relpath(path) if os.path.isabs(path) else path
    return path if below.startswith(os.pardir) else below
