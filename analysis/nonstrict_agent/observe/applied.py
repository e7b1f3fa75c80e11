"""Applications of `torch.compile`: on which line, whether what it returned is called, and what that compiles."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from nonstrict_agent.observe.compiling import Compilations

_MAX_APPLICATIONS = 400


class Application:
    """One application: calls of what it returned, the graphs that these made, and names of state that it changed."""

    def __init__(self, path: str, line: int, compilations: Compilations | None = None) -> None:
        self.path = path
        self.line = line
        self._compilations = compilations
        self.calls = 0
        self.graphs = 0
        self.renamed = 0

    @contextmanager
    def counted(self) -> Generator[None]:
        """Count a call of what `torch.compile` returned, and the graphs that are made meanwhile."""
        self.calls += 1
        before = self._made
        try:
            yield
        finally:
            self.graphs += self._made - before

    @property
    def _made(self) -> int:
        """The graphs that were compiled in this process so far."""
        return 0 if self._compilations is None else self._compilations.made

    def told(self) -> list[Any]:
        """`[path, line, calls, graphs, renamed]`."""
        return [self.path, self.line, self.calls, self.graphs, self.renamed]


class Applications:
    """Collects them; `is_user` says whether a file is the user's, `compilations` hears of graphs, if any are."""

    def __init__(self, is_user: Callable[[str], bool], compilations: Compilations | None = None) -> None:
        self._is_user = is_user
        self._compilations = compilations
        self.seen: list[Application] = []

    def note(self) -> Application:
        """`torch.compile` is applied now: on the innermost line of the user's."""
        frame: Any = sys._getframe(1)
        while frame is not None and not self._is_user(frame.f_code.co_filename):
            frame = frame.f_back
        made = Application("", 0)
        if frame is not None:
            made = Application(os.path.abspath(frame.f_code.co_filename), frame.f_lineno, self._compilations)
        if made.path and len(self.seen) < _MAX_APPLICATIONS:
            self.seen.append(made)
        return made


def renamed(compiled: Any, model: Any) -> int:
    """How many names in the state of a module are others in that of its compiled wrapper."""
    if compiled is model or not hasattr(model, "state_dict") or not hasattr(compiled, "state_dict"):
        return 0
    return len(set(model.state_dict()).difference(compiled.state_dict()))
