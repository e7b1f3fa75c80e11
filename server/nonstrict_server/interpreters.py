"""The interpreters that experiments are run in, and whether they have torch, without starting one."""

from __future__ import annotations

import shutil
import time
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.settings.model import Settings

#: How long what was found on the disk is taken to be there, in seconds: lenses are asked for with every key.
_FRESH = 5.0


class Interpreter(NamedTuple):
    """The `path` of an interpreter; `notice` says why it is not the one of the folder, empty if it is.

    `has_torch` is false only if it surely has none; `is_there` is whether there is such a program at all.
    """

    path: str
    notice: str
    has_torch: bool
    is_there: bool = True

    @property
    def hindrance(self) -> str:
        """Why no experiment can be run in it, and what to do; empty if one can."""
        if not self.is_there:
            advice = "set `nonstrict.interpreter`, or `python` in the configuration, to the path of one that has torch"
            return f"nothing can be confirmed: there is no interpreter {self.path}; {advice}"
        if self.has_torch:
            return ""
        advice = "choose an interpreter that has it, or install torch there"
        return f"nothing can be confirmed: {self.path} has no torch; {advice}"


class Interpreters:
    """What is known of interpreters; looked up anew after a while. For the thread of the analysis.

    `changed` is called when one is otherwise than it was the last time.
    """

    def __init__(self, changed: Callable[[], None]) -> None:
        """Nothing is known yet."""
        self._changed = changed
        self._known: dict[tuple[object, ...], tuple[float, Interpreter]] = {}

    def of(self, settings: Settings, trusted: Callable[[str], bool], *, anew: bool = False) -> Interpreter:
        """Where experiments with a project are run; `anew`: as it is on the disk now."""
        key = (settings.python, settings.root, settings.python_by_user)
        known = self._known.get(key)
        if known is not None and not anew and time.monotonic() - known[0] < _FRESH:
            return known[1]
        from nonstrict.check.venues import chosen_python
        from nonstrict.knowledge.torch_version import lacks_torch

        chosen = chosen_python(settings, trusted)
        is_there = shutil.which(chosen.path) is not None
        found = Interpreter(chosen.path, chosen.notice, is_there and not lacks_torch(chosen.path), is_there)
        self._known[key] = time.monotonic(), found
        if known is not None and known[1] != found:
            self._changed()
        return found
