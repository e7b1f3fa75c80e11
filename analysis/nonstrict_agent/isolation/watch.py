"""Watches one contained process: takes what it sends, measures it, and stops it when it goes beyond a limit."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import time
from typing import TYPE_CHECKING

from nonstrict_agent.isolation import processes
from nonstrict_agent.isolation.containment import MEBI, Containment, Ending, Exit
from nonstrict_agent.isolation.inside import READY

if TYPE_CHECKING:
    from collections.abc import Callable

_INTERVAL, _LONGEST_INTERVAL = 0.05, 0.5
_COST_SHARE = 10
"""Measuring may take one part in this many of the time."""
_SETUP_SECONDS = 30.0
_CHUNK = MEBI
_FORGED = "something else than the agent wrote its result"


class Watch:
    """What is known of a contained process. `started` and `ended` are monotonic times; `peak` is in bytes."""

    def __init__(
        self,
        containment: Containment,
        worker: int,
        result: int,
        printed: int,
        forward: Callable[[bytes], None],
        opened: Callable[[bytes], bytes | None],
    ):
        self.started = time.monotonic()
        self.ended = self.started
        self.peak = 0
        self.printed = b""
        self.exit: Exit = {"reason": Ending.DONE.value, "status": -1, "signal": "", "detail": ""}
        self._containment = containment
        self._worker = worker
        self._result, self._printed = result, printed
        self._forward = forward
        self._opened = opened
        self._received = bytearray()
        self._ready = self._answered = self._tampered = False
        self._refused = ""
        self._allowed = containment.memory
        self._stopped: tuple[Ending, str] | None = None
        for descriptor in (result, printed):
            os.set_blocking(descriptor, False)

    def until_ended(self, members: Callable[[], list[int]], kill: Callable[[], None], lifeline: int | None) -> None:
        """Waits until the process has ended, and stops it when its time, memory, processes or output are used up.

        `members` lists the processes that count, `kill` ends them; when `lifeline` closes, nobody wants the result.
        """
        poller = select.poll()
        open_ended = {self._result: self._take_result, self._printed: self._take_printed}
        for descriptor in open_ended:
            poller.register(descriptor, select.POLLIN)
        if lifeline is not None:
            poller.register(lifeline, select.POLLIN)
        with contextlib.suppress(OSError, AttributeError):
            poller.register(os.pidfd_open(self._worker), select.POLLIN)
        next_look = self.started
        while True:
            for descriptor, _ in poller.poll(max(0.0, 1000 * (next_look - time.monotonic()))):
                if descriptor == lifeline:
                    os._exit(1)
                if descriptor in open_ended and not open_ended[descriptor]():
                    poller.unregister(descriptor)
            if self._reap():
                break
            if time.monotonic() >= next_look or len(self._received) > self._containment.output:
                # Processor time: among many processes, waiting for a turn is no cost.
                before = time.process_time()
                self._look(members)
                if self._stopped:
                    kill()
                cost = _COST_SHARE * (time.process_time() - before)
                next_look = time.monotonic() + min(_LONGEST_INTERVAL, max(_INTERVAL, cost))
        self._take_printed()
        self._take_result()
        self.exit = self._verdict()

    def _take_result(self) -> bool:
        """Reads what there is of the result; False at the end of it, or when no more is wanted."""
        while not self._answered and len(self._received) <= self._containment.output:
            try:
                data = os.read(self._result, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            searched = len(self._received)
            self._received += data
            while not self._answered and (end := self._received.find(b"\n", searched)) >= 0:
                line = bytes(self._received[: end + 1])
                del self._received[: end + 1]
                searched = 0
                self._take_line(line)
        return False

    def _take_line(self, line: bytes) -> None:
        """Passes on the line that says what became of the work. What is not sealed was written by someone else."""
        if not self._ready and line == READY:
            self._ready = True
            self.started = time.monotonic()
            self._allowed += processes.resident([self._worker])
            return
        if not self._ready:
            self._refused = _refusal(line)
            return
        answer = self._opened(line)
        self._answered = True
        if answer is not None:
            self._forward(answer)
            return
        self._tampered = True
        self._stopped = Ending.TAMPERED, _FORGED

    def _take_printed(self) -> bool:
        while True:
            try:
                data = os.read(self._printed, _CHUNK)
            except BlockingIOError:
                return True
            if not data:
                return False
            self.printed = (self.printed + data)[-max(1, self._containment.printed) :]
            if len(data) == _CHUNK:
                return True

    def _reap(self) -> bool:
        """Takes leave of processes that ended; says whether the watched one is among them."""
        while True:
            try:
                process, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if process == 0:
                return False
            if process == self._worker:
                self.ended = time.monotonic()
                self.peak = max(self.peak, usage.ru_maxrss * 1024)
                code = os.waitstatus_to_exitcode(status)
                self.exit["status"] = code if code >= 0 else -1
                self.exit["signal"] = _signal_name(-code) if code < 0 else ""
                return True

    def _look(self, members: Callable[[], list[int]]) -> None:
        """Compares with the limits."""
        limits = self._containment
        seconds = time.monotonic() - self.started
        allowed = limits.seconds if self._ready else _SETUP_SECONDS
        found = members()
        held = processes.resident(found)
        self.peak = max(self.peak, held)
        if self._stopped:
            return
        if seconds > allowed:
            self._stopped = Ending.SECONDS, f"stopped after {allowed:g} s"
        elif len(self._received) > limits.output:
            self._stopped = Ending.OUTPUT, f"the result is larger than {limits.output // MEBI} MB"
        elif len(found) > limits.processes:
            self._stopped = self._too_many()
        elif held > self._allowed:
            self._stopped = self._measured(found, members)

    def _too_many(self) -> tuple[Ending, str]:
        return Ending.PROCESSES, f"more than {self._containment.processes} processes at once"

    def _measured(self, found: list[int], members: Callable[[], list[int]]) -> tuple[Ending, str] | None:
        """Adds up the memory of the processes with care, as they seem to hold too much."""
        total = 0
        for process in found:
            total += processes.proportional(process)
            # Each waits for a lock that a forking process holds: time enough for a great many to appear.
            if len(members()) > self._containment.processes:
                return self._too_many()
        if total <= self._allowed:
            return None
        return Ending.MEMORY, f"more than {self._containment.memory // MEBI} MB of memory"

    def _verdict(self) -> Exit:
        status, signal_name = self.exit["status"], self.exit["signal"]
        if self._tampered:
            reason, detail = Ending.TAMPERED, _FORGED
        elif self._refused:
            reason, detail = Ending.SANDBOX, self._refused
        elif self._stopped and not self._answered:
            reason, detail = self._stopped
        elif self._answered:
            reason, detail = Ending.DONE, ""
        elif signal_name == "SIGXCPU":
            reason, detail = Ending.SECONDS, "stopped by the limit on processor time"
        elif signal_name:
            reason, detail = Ending.SIGNAL, _explained(signal_name)
        elif not self._ready:
            reason, detail = Ending.SANDBOX, f"the process ended with status {status} before its work began"
        else:
            reason, detail = Ending.EXITED, f"the process ended with status {status} and no result"
        return {"reason": reason.value, "status": status, "signal": signal_name, "detail": detail}


def _refusal(line: bytes) -> str:
    """Why the work was not run."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError):
        return "unknown"
    return str(answer.get("refused", "unknown")) if isinstance(answer, dict) else "unknown"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _explained(name: str) -> str:
    causes = {
        "SIGKILL": "killed by SIGKILL, perhaps by the kernel for want of memory",
        "SIGSEGV": "a segmentation fault",
        "SIGABRT": "it aborted itself",
        "SIGXFSZ": "a file grew larger than allowed",
        "SIGSYS": "it made a system call of another architecture",
    }
    return causes.get(name, f"killed by {name}")
