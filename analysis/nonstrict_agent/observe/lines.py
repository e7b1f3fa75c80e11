"""Which lines of the user's files are executed: `sys.monitoring` where there is one (3.12), else `sys.settrace`."""

from __future__ import annotations

import contextlib
import functools
import inspect
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
    """Collects the lines of files that `is_user` accepts, between `start` and `stop`.

    `seen` are all of them, `within` those that calls of regions execute (see `inside`): with the headers of their
    functions, the lines that make such a call, and those of modules and classes, which define what is called. `calls`
    are those of each call by itself.
    """

    def __init__(self, is_user: Callable[[str], bool]) -> None:
        self._is_user = is_user
        self._known: dict[str, bool] = {}
        self.seen: dict[str, set[int]] = {}
        self.within: dict[str, set[int]] = {}
        self.calls: list[dict[str, set[int]]] = []
        self._inside = False
        self._entered: set[CodeType] = set()

    @contextlib.contextmanager
    def inside(self) -> Generator[None]:
        """What is executed in here is executed within a call of a region."""
        before, self._inside = self._inside, True
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if self._mine(frame.f_code.co_filename):
                self.within.setdefault(frame.f_code.co_filename, set()).add(frame.f_lineno)
            frame = frame.f_back
        if sys.version_info >= (3, 12):
            # Lines that were seen before are not told of again.
            sys.monitoring.restart_events()
        try:
            yield
        finally:
            self._inside = before

    @contextlib.contextmanager
    def of_call(self) -> Generator[None]:
        """The same for one call of a region."""
        self.calls.append({})
        with self.inside():
            yield

    def follow_backward(self) -> None:
        """What a backward pass executes belongs to the calls whose results it is from."""
        import torch.autograd

        name = "_engine_run_backward"
        run = getattr(torch.autograd, name, None)
        if run is None:
            return

        @functools.wraps(run)
        def followed(*arguments: Any, **keywords: Any) -> Any:
            with self.inside():
                return run(*arguments, **keywords)

        setattr(torch.autograd, name, followed)

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
            self._add(code, line)
        return sys.monitoring.DISABLE if sys.version_info >= (3, 12) else None

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        name = frame.f_code.co_filename
        if not self._mine(name):
            return None
        if event == "line":
            self._add(frame.f_code, frame.f_lineno)
        elif event == "call":
            self._add(frame.f_code, frame.f_code.co_firstlineno)
        return self._trace

    def _add(self, code: CodeType, line: int) -> None:
        name = code.co_filename
        self.seen.setdefault(name, set()).add(line)
        if self._inside or not code.co_flags & inspect.CO_OPTIMIZED:
            self.within.setdefault(name, set()).add(line)
        if self._inside and self.calls:
            self.calls[-1].setdefault(name, set()).add(line)
        if self._inside and code not in self._entered:
            self._entered.add(code)
            self.within[name].update(_header(code))


def _header(code: CodeType) -> range:
    """The lines of a function before its body: decorators, parameters, annotations."""
    first = code.co_firstlineno
    return range(first, min((line for *_, line in code.co_lines() if line is not None and line > first), default=first))
