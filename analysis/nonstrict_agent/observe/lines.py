"""Which lines of the user's files are executed: `sys.monitoring` where there is one (3.12), else `sys.settrace`."""

from __future__ import annotations

import contextlib
import sys
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import CodeType, FrameType


@contextlib.contextmanager
def untraced() -> Generator[None]:
    """Calls of our own in here are not followed line by line, which would take longer than they do."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(tracer)


class Lines:
    """Collects the lines of files that `is_user` accepts, between `start` and `stop`."""

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._known: dict[str, bool] = {}
        self.seen: dict[str, set[int]] = {}

    def start(self) -> None:
        """Begin to collect."""
        if sys.version_info >= (3, 12):
            monitoring: Any = sys.monitoring
            monitoring.use_tool_id(monitoring.COVERAGE_ID, "nonstrict")
            monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, self._line)
            monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)
        else:
            threading.settrace(self._trace)
            sys.settrace(self._trace)

    def stop(self) -> None:
        """End collecting."""
        if sys.version_info >= (3, 12):
            monitoring: Any = sys.monitoring
            monitoring.set_events(monitoring.COVERAGE_ID, 0)
            monitoring.free_tool_id(monitoring.COVERAGE_ID)
        else:
            sys.settrace(None)
            threading.settrace(None)  # type: ignore[arg-type] - as the documentation has it

    def _mine(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            known = self._known[name] = self._is_user(name)
        return known

    def _line(self, code: CodeType, line: int) -> Any:
        if self._mine(code.co_filename):
            self.seen.setdefault(code.co_filename, set()).add(line)
        return sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not self._mine(name):
            return None
        if event == "line":
            self.seen.setdefault(name, set()).add(frame.f_lineno)
        elif event == "call":
            self.seen.setdefault(name, set()).add(frame.f_code.co_firstlineno)
        return self._trace
