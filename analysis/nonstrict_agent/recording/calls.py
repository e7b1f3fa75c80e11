"""Which calls of a function are looked at, and what is kept of them.

A call costs next to nothing unless it is looked at: the first ones are, then fewer and fewer of them (each time an
eighth more calls pass by), and none once enough distinct signatures are known. Where looking is slow (large modules,
values on a busy device), it takes no more than a small part of the time that the program runs.
"""

from __future__ import annotations

import json
import os
import threading
import time
import types
from functools import update_wrapper
from inspect import unwrap
from typing import TYPE_CHECKING, Any

from nonstrict_agent.recording.signatures import signature, structure, trimmed

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict_agent.recording.spool import Spool

#: Signatures of one structure: batches of many lengths must not take the place of other ways to call a function.
_ALIKE = 3
#: What a process keeps of one function (characters of JSON).
_MOST = 1 << 19
_NEVER = 1 << 62
#: Directories of packages that are not the project, though an environment may lie in it.
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_PASS_BY = 8
#: Processor time spent on looking at the calls of one function: so many seconds at once, then this part of all time.
_FREELY = 1.0
_PART = 0.02


class Watch:
    """The calls of one function in this process."""

    def __init__(self, recorder: Recorder, path: str, qualname: str) -> None:
        """Nothing has been called yet."""
        self.count = 0
        self.due = 1
        self._recorder = recorder
        self._path = path
        self._qualname = qualname
        #: Of calls with real values, and of those that were traced: these take no place of those.
        self._signatures: dict[bool, set[str]] = {False: set(), True: set()}
        self._structures: dict[str, int] = {}
        self._size = 0
        self._started = time.monotonic()
        self._spent = 0.0

    def look(self, args: tuple[object, ...], kwargs: dict[str, object]) -> Any:
        """What the arguments are like; None where they tell nothing of real values. Never raises."""
        if _here.looking or self._spent > max(_FREELY, _PART * (time.monotonic() - self._started)):
            return None
        before = time.thread_time()
        _here.looking = True
        try:
            from nonstrict_agent.recording.reality import described

            call = described(args, kwargs)
        except Exception:  # noqa: BLE001 - what cannot be described is not recorded
            call = None
        finally:
            _here.looking = False
        self._spent += time.thread_time() - before
        if call is not None:
            self.due = self.count + 1 + self.count // _PASS_BY
        return call

    def keep(self, call: Any, result: object) -> None:
        """Record what `look` gave, of a call that has returned, unless enough is known like it. Never raises."""
        try:
            from nonstrict_agent.recording.results import outcome

            self._keep(trimmed({**call, "result": outcome(result)}))
        except Exception:  # noqa: BLE001 - the command goes on
            self.due = _NEVER

    def refused(self, call: Any, error: BaseException) -> None:
        """Record what `look` gave of a call that torch would not compile: it may be a good one. Never raises."""
        try:
            from nonstrict_agent.recording.reality import is_refusal

            if is_refusal(error):
                self._keep(trimmed(call))
        except Exception:  # noqa: BLE001 - the command goes on
            self.due = _NEVER

    def _keep(self, call: Any) -> None:
        name, outline, traced = signature(call), structure(call), "traced" in call
        alike, known = self._structures.get(outline, 0), self._signatures[traced]
        if name in known or alike >= _ALIKE or len(known) >= self._recorder.limit:
            return
        size = len(json.dumps(call))
        self._size += size
        if self._size > _MOST:
            self.due = _NEVER
            self._recorder.tell("large", self._path, self._qualname)
            return
        known.add(name)
        self._structures[outline] = alike + 1
        self._recorder.tell("call", self._path, self._qualname, call=call)
        if not traced and len(known) >= self._recorder.limit:
            self.due = _NEVER


class Recorder:
    """What is watched in this process."""

    def __init__(self, root: str, spool: Spool, limit: int, *, eager: bool) -> None:
        """Watch functions of files below `root`, an absolute path without links; `eager` turns torch.compile off."""
        self.limit = limit
        self.eager = eager
        #: What keeps code that records, but not what it calls, out of compiled code.
        self.skip_code: Callable[[types.CodeType], object] | None = None
        self._root = root.rstrip(os.sep) + os.sep
        self._spool = spool
        self._watches: dict[tuple[str, str], Watch] = {}

    def tell(self, event: str, path: str, qualname: str, **more: object) -> None:
        """Leave a line for the end of the command."""
        self._spool.write({"event": event, "path": path, "function": qualname, **more})

    def note(self, event: str, **more: object) -> None:
        """Leave a line that is about no function."""
        self._spool.write({"event": event, **more})

    def watch(self, function: object) -> Watch | None:
        """The watch of a Python function of the project; None for any other."""
        code = getattr(unwrap(function) if callable(function) else None, "__code__", None)
        if not isinstance(code, types.CodeType) or code.co_name == "<lambda>":
            return None
        path = os.path.realpath(code.co_filename)
        inside = path.startswith(self._root) and not _INSTALLED.intersection(path[len(self._root) :].split(os.sep))
        if not inside or not os.path.isfile(path):
            return None
        name = str(getattr(unwrap(function), "__qualname__", code.co_name))  # type: ignore[arg-type]
        key = (path, name)
        if key not in self._watches:
            self._watches[key] = Watch(self, path, name)
            self.tell("marked", path, name)
        return self._watches[key]

    def watched(self, function: Any) -> Any:
        """`function` with its calls recorded, itself if they are not: what a marker is given."""
        target, bound = target_of(function)
        watch = self.watch(target) if target is not None else None
        if watch is None:
            return function
        recorded = recording(function, watch, bound)
        if self.skip_code is not None:
            self.skip_code(recorded.__code__)
        return recorded


class _Here(threading.local):
    """Whether this thread is describing values: what it calls for that is not a call of the user's."""

    looking = False


_here = _Here()
_recorders: list[Recorder] = []


def recorder(root: str, spool: Spool, limit: int, *, eager: bool) -> Recorder:
    """The recorder of this process, made at the first call."""
    if not _recorders:
        _recorders.append(Recorder(root, spool, limit, eager=eager))
    return _recorders[0]


def target_of(function: Any) -> tuple[Any, tuple[object, ...]]:
    """The function that a call of `function` runs, and the arguments that it is given first; None if unknown."""
    import torch

    if isinstance(function, types.FunctionType):
        return function, ()
    if isinstance(function, types.MethodType):
        owner = function.__self__
        name = function.__func__.__qualname__
        if isinstance(owner, torch.nn.Module) and name in {"Module._call_impl", "Module._wrapped_call_impl"}:
            return type(owner).forward, (owner,)
        return function.__func__, (owner,)
    if isinstance(function, torch.nn.Module):
        return type(function).forward, (function,)
    return None, ()


def recording(function: Callable[..., Any], watch: Watch, bound: tuple[object, ...] = ()) -> Callable[..., Any]:
    """A function that calls `function`, and has some of its calls kept.

    It refers to nothing but its closure, and has the globals of what it stands for: tools that evaluate annotations
    use them. Its frame is taken out of tracebacks (Python 3.11 and later; 3.10 shows it).
    """
    everything = BaseException

    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        watch.count += 1
        seen = watch.look((*bound, *args), kwargs) if watch.count >= watch.due else None
        try:
            result = function(*args, **kwargs)
        except everything as error:
            if seen is not None:
                watch.refused(seen, error)
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            raise
        if seen is not None:
            watch.keep(seen, result)
        return result

    inner = unwrap(function)
    space: dict[str, Any] = getattr(inner, "__globals__", call.__globals__)
    made = types.FunctionType(call.__code__, space, call.__name__, None, call.__closure__)
    return update_wrapper(made, function)
