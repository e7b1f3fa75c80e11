"""Starts contained work, watches over it from outside its confinement, and tells how it ended."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict_agent.isolation import changes, inside, namespaces, processes, sealing
from nonstrict_agent.isolation.containment import MEBI, TEMPORARY_PREFIX, Containment, Ending, Exit, Tier
from nonstrict_agent.isolation.overlay import Layer, View
from nonstrict_agent.isolation.sight import Sight, sight_of
from nonstrict_agent.isolation.system_calls import SetupError
from nonstrict_agent.isolation.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable

_PATIENCE = 1.0
"""Seconds that stray descendants get killed one by one before the whole process group is."""


def serve(work: Callable[[], Any], containment: Containment, result_fd: int) -> NoReturn:
    """Runs `work` contained and writes the lines described in `tiers` to `result_fd`; this process ends."""
    began = time.monotonic()
    gc.disable()
    _detach(result_fd)
    report = _Report(containment, result_fd, began)
    try:
        if containment.tier is Tier.COPY_ON_WRITE:
            _copied(work, containment, report)
        else:
            _denied(work, containment, report)
    except SetupError as error:
        report.refuse(str(error))
    except Exception as error:  # noqa: BLE001 - the reader waits for a line, whatever happened
        report.refuse(f"{type(error).__name__}: {error}")
    os._exit(0)


def _detach(result_fd: int) -> None:
    """Leaves the session, the descriptors and the signal handlers of the parent; ends when the parent does."""
    for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Who reads may be gone; what was started is ended all the same.
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    signal.set_wakeup_fd(-1)
    if os.getpgid(0) != os.getpid():
        os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        if number != result_fd:
            os.dup2(nothing, number)
    inside.close_all_but(result_fd)
    if sys.platform == "linux":
        namespaces.die_with_parent(os.getppid())


class _Report:
    """Writes the lines that say what became of the work."""

    def __init__(self, containment: Containment, descriptor: int, began: float):
        self.descriptor = descriptor
        self._containment = containment
        self._began = began

    def line(self, line: bytes) -> None:
        rest = memoryview(line)
        with contextlib.suppress(BrokenPipeError):
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]

    def refuse(self, reason: str) -> None:
        self._last({"reason": Ending.SANDBOX.value, "status": -1, "signal": "", "detail": reason}, None, None)

    def end(self, watch: Watch, found: changes.Changes | None) -> None:
        self._last(watch.exit, watch, found)

    def _last(self, ending: Exit, watch: Watch | None, found: changes.Changes | None) -> None:
        started = watch.started if watch is not None else time.monotonic()
        answer = {
            "changes": found.listed if found else [],
            "changes_left_out": found.left_out if found else 0,
            "exit": ending,
            "memory_mb": watch.peak // MEBI if watch is not None else 0,
            "seconds": round(watch.ended - started, 3) if watch is not None else 0.0,
            "setup_ms": round(1000 * (started - self._began), 1),
            "printed": watch.printed.decode("utf-8", "replace") if watch is not None else "",
            "tier": self._containment.tier.value,
        }
        self.line(json.dumps(answer).encode("ascii") + b"\n")


def _copied(work: Callable[[], Any], containment: Containment, report: _Report) -> NoReturn:
    _check_directories(containment)
    sight = sight_of(containment, os.environ)
    view = View(containment, sight)
    namespaces.enter()
    lifeline, held = os.pipe()
    if first := os.fork():
        os.close(lifeline)
        os.waitpid(first, 0)
        os._exit(0)
    os.close(held)
    # The parent is in another pid namespace: its number says nothing here, so the pipe tells whether it lives.
    namespaces.die_with_parent(os.getppid())
    layers = view.enter()
    watch = _start(work, containment, "", sight, report)
    watch.until_ended(processes.everyone, _kill_namespace, lifeline)
    _kill_namespace()
    with contextlib.suppress(ChildProcessError):
        while True:
            os.wait()
    report.end(watch, changes.read(_outside(layers, containment)))
    os._exit(0)


def _outside(layers: list[Layer], containment: Containment) -> list[Layer]:
    # A writable directory may itself be the top of an overlay, which it then covers.
    writable = {os.path.realpath(path) for path in containment.writable}
    return [layer for layer in layers if layer.path not in writable]


def _kill_namespace() -> None:
    # From the first process of a pid namespace: all others in it.
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)


def _denied(work: Callable[[], Any], containment: Containment, report: _Report) -> NoReturn:
    _check_directories(containment)
    sight = sight_of(containment, os.environ) if containment.tier is Tier.DENY else Sight((), (), ())
    temporary = tempfile.mkdtemp(prefix=f"{TEMPORARY_PREFIX}{os.getpid()}-") if containment.tier is Tier.DENY else ""
    try:
        if sys.platform == "linux":
            namespaces.adopt_orphans()
            # There is no namespace that ends with this process, so the death of the parent has to be acted upon.
            signal.signal(signal.SIGTERM, lambda *_: _abandon(temporary))
            namespaces.die_with_parent(os.getppid(), by=signal.SIGTERM)
        watch = _start(work, containment, temporary, sight, report)
        watch.until_ended(processes.descendants, _kill_descendants, None)
        _end_strays()
    finally:
        if temporary:
            shutil.rmtree(temporary, ignore_errors=True)
    report.end(watch, None)
    if _has_children():
        # The signal reaches all at once, this process too; its work is done.
        os.killpg(0, signal.SIGKILL)
    os._exit(0)


def _abandon(temporary: str) -> NoReturn:
    if temporary:
        shutil.rmtree(temporary, ignore_errors=True)
    os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _kill_descendants() -> None:
    for process in processes.descendants():
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(process, signal.SIGKILL)


def _end_strays() -> None:
    end = time.monotonic() + _PATIENCE
    while _has_children() and time.monotonic() < end:
        _kill_descendants()
        time.sleep(0.001)


def _has_children() -> bool:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return False
    return True


def _check_directories(containment: Containment) -> None:
    for path in containment.writable:
        if not os.path.isdir(path):
            raise SetupError(f"the writable directory {path} does not exist")


def _start(work: Callable[[], Any], containment: Containment, temporary: str, sight: Sight, report: _Report) -> Watch:
    """Forks the process that does the work. What it sends goes through this process."""
    result, result_in = os.pipe()
    printed, printed_in = os.pipe()
    supervisor = os.getpid()
    seal, opened = sealing.pair()
    worker = os.fork()
    if worker == 0:
        del opened
        if sys.platform == "linux":
            namespaces.die_with_parent(supervisor)
        if containment.tier is Tier.COPY_ON_WRITE:
            os.setsid()
        inside.run(work, containment, result_in, printed_in, temporary, sight, seal)
    if sys.platform == "linux":
        namespaces.keep_others_out()
    os.close(result_in)
    os.close(printed_in)
    return Watch(containment, worker, result, printed, report.line, opened)
