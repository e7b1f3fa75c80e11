"""Graph breaks: where torch leaves a compiled region for plain Python, and for what reason."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_BREAKS = 100
_MAX_TEXT = 160


class Breaks:
    """Collects breaks; `is_user` says whether a file is the user's."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        #: each as `[reason, [[path, line], ...]]`, the innermost of the user's lines last
        self.seen: list[list[Any]] = []

    def install(self) -> bool:
        """Begin to listen, for the rest of the process; whether this torch can be listened to.

        Every break passes `InstructionTranslatorBase.log_graph_break` (torch 2.13 and 2.15), whether Dynamo resumes
        after it or gives up the function.
        """
        from torch._dynamo import symbolic_convert

        translator: Any = symbolic_convert.InstructionTranslatorBase
        original = getattr(translator, "log_graph_break", None)
        if original is None:
            return False

        def log_graph_break(tracer: Any, *arguments: Any, **named: Any) -> Any:
            error = named.get("exc", arguments[-1] if arguments else None)
            if len(self.seen) < _MAX_BREAKS:
                self._take(error)
            return original(tracer, *arguments, **named)

        translator.log_graph_break = log_graph_break
        return True

    def _take(self, error: Any) -> None:
        stack = getattr(error, "real_stack", None) or ()
        lines = [[os.path.abspath(frame.filename), frame.lineno] for frame in stack if self._is_user(frame.filename)]
        told = [_reason(error), lines]
        if lines and told not in self.seen:
            self.seen.append(told)


def _reason(error: Any) -> str:
    """Torch's name for what it could not trace: a loop around it is why torch gave up, not what broke."""
    # It raises while it handles the break (torch 2.13, `exc.py`, `unimplemented`).
    while getattr(error.__cause__ or error.__context__, "gb_type", None):
        error = error.__cause__ or error.__context__
    return str(getattr(error, "gb_type", None) or str(error).partition("\n")[0])[:_MAX_TEXT]
