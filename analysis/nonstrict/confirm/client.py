"""The engine's end of the agent: starts it in the user's interpreter, sends jobs, hands out results, all without torch.

    with Agent(python, root, Options(cache=directory, slots=2), on_state=show) as agent:
        ready = agent.wait_ready()
        tickets = [agent.submit(job, seconds=30) for job in jobs]
        for ticket in as_completed(tickets):
            print(ticket.job, ticket.result())

Every method may be called from any thread. Processes should be forked before an agent is started, not after:
the agent needs a thread that reads.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import subprocess
import tempfile
import threading
import time
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from nonstrict.confirm.answers import GRACE, Change, JobResult, Ready, State, ending, messages, pipe_of, result_of
from nonstrict.confirm.compile_caches import name_of
from nonstrict.confirm.launching import AgentUnavailable, Options, command_line, environment_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

__all__ = ["Agent", "AgentUnavailable", "Change", "JobResult", "Options", "Ready", "State", "Ticket", "as_completed"]


class Ticket:
    """A job that was handed in."""

    def __init__(self, agent: Agent, number: int, job: dict[str, Any]) -> None:
        self.job = job
        self.number = number
        self.agent = agent
        self._result: JobResult | None = None

    def done(self) -> bool:
        """Whether `result` would answer at once."""
        return self._result is not None

    def result(self, timeout: float | None = None) -> JobResult:
        """Wait for what became of the job; failures are results, not exceptions.

        Raises:
            TimeoutError: it is not done after `timeout` seconds; the job goes on.
        """
        with self.agent.changed:
            if not self.agent.changed.wait_for(self.done, timeout):
                raise TimeoutError(f"job {self.number} is not done after {timeout} s")
            assert self._result is not None  # noqa: S101 - it was waited for
            return self._result

    def cancel(self) -> None:
        """Ask for the job's end; `result` then tells "cancelled", unless it was done before. Does not wait."""
        if not self.done():
            self.agent.send({"op": "cancel", "id": self.number})

    def settle(self, result: JobResult) -> None:
        """Store the result; called by the agent, who holds `changed`."""
        if self._result is None:
            self._result = result


class Agent:
    """The agent's processes, started on entering the context (or by `start`) and gone on leaving it (`close`)."""

    def __init__(
        self,
        python: str | Path,
        root: Path,
        options: Options,
        *,
        on_state: Callable[[State], None] | None = None,
    ) -> None:
        """Remember how to start.

        Args:
            python: the user's interpreter, the one with torch.
            root: the directory of the project that jobs look into.
            options: see there.
            on_state: called with every new state, on the thread that reads; must not call the agent.
        """
        self._python, self._root, self._options, self._on_state = str(python), root, options, on_state
        self._numbers = itertools.count(1)
        self._tickets: dict[int, Ticket] = {}
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._writing = threading.Lock()
        self._log: IO[bytes] | None = None
        self._started = 0.0
        self._ready: Ready | None = None
        self._why_not = ""
        #: The last state that was told.
        self.state = State("closed", "not started", 0.0, {})
        #: Notified whenever a ticket is settled or the state changes; for this module.
        self.changed = threading.Condition()

    def __enter__(self) -> Agent:  # noqa: PYI034 - `Self` came with Python 3.11
        """Start; see `start`."""
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close; see `close`."""
        self.close()

    def start(self) -> None:
        """Start the processes and return at once; may be called again after `close` or after the agent died.

        Raises:
            AgentUnavailable: the interpreter is missing or cannot be run.
        """
        self.close()
        self._ready, self._why_not, self._started = None, "", time.monotonic()
        self.state = State("starting", "starting the interpreter", 0.0, {})
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the agent
        try:
            self._process = subprocess.Popen(
                command_line(self._python),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                bufsize=0,
                cwd=tempfile.gettempdir(),
                env=environment_for(self._options),
                # Ctrl-C in a terminal is for the command, which then closes its agent.
                start_new_session=True,
            )
        except OSError as error:
            self._log.close()
            raise AgentUnavailable(
                f"cannot run the interpreter {self._python}: {error.strerror}; "
                "name one that has torch, as `python` in the configuration for example"
            ) from error
        self._reader = threading.Thread(target=self._read, args=(self._process,), name="nonstrict-agent", daemon=True)
        self._reader.start()
        self.send({"op": "hello", "root": str(self._root), **self._options.for_agent()})

    @property
    def ready(self) -> Ready | None:
        """What the agent said when it became ready; None before."""
        return self._ready

    def wait_ready(self, timeout: float | None = None) -> Ready:
        """Wait until jobs can run; handing them in before is fine.

        Raises:
            AgentUnavailable: it will not become ready; the message says why and what to do.
            TimeoutError: it is not ready after `timeout` seconds, and still trying.
        """
        with self.changed:
            if not self.changed.wait_for(lambda: self._ready or self._why_not, timeout):
                raise TimeoutError(f"the agent is not ready after {timeout} s: {self.state.text}")
            if self._ready is None:
                raise AgentUnavailable(self._why_not)
            return self._ready

    def submit(self, job: dict[str, Any], seconds: float, priority: int = 0) -> Ticket:
        """Hand in a job; lower priorities run first, equal ones in the order they came.

        Args:
            job: a JSON object; "root" is the project's directory unless given, whose caches it gets, "device" decides
                who runs it.
            seconds: wall clock the job may take once it was started; its end is then the failure "timeout".
            priority: for instance 0 for what someone looks at, 1 for the rest.

        Raises:
            AgentUnavailable: the agent is not running, or said that it cannot run jobs.
        """
        with self.changed:
            if self._why_not or self._process is None:
                raise AgentUnavailable(self._why_not or "the agent is not running; start it first")
            ticket = Ticket(self, next(self._numbers), job)
            self._tickets[ticket.number] = ticket
        job = {"root": str(self._root), **job}
        job["caches"] = name_of(job["root"])
        self.send({"op": "run", "id": ticket.number, "job": job, "seconds": seconds, "priority": priority})
        return ticket

    def log(self) -> str:
        """The end of what the agent's processes wrote to standard error, for bug reports."""
        if self._log is None or self._log.closed:
            return ""
        with contextlib.suppress(OSError, ValueError):
            size = self._log.seek(0, 2)
            self._log.seek(max(0, size - 4000))
            return self._log.read().decode(errors="replace")
        return ""

    def close(self) -> None:
        """End every process of the agent and wait until they are gone; open tickets become "dead"."""
        process, self._process = self._process, None
        if process is None:
            return
        self._send_to(process, {"op": "close"})
        with contextlib.suppress(OSError):
            pipe_of(process.stdin).close()
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._reader is not None and self._reader is not threading.current_thread():
            self._reader.join(GRACE)
        if self._log is not None:
            self._log.close()

    def send(self, message: dict[str, Any]) -> None:
        """Write one message to the agent; nothing happens if it is gone, its end is told by the reading thread."""
        process = self._process
        if process is not None:
            self._send_to(process, message)

    def _send_to(self, process: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
        data = json.dumps(message).encode() + b"\n"
        stdin = pipe_of(process.stdin)
        with self._writing, contextlib.suppress(OSError, ValueError):
            view = memoryview(data)
            while view:
                view = view[stdin.write(view) or 0 :]

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Take in messages until the agent is gone; runs in a thread of its own."""
        for message in messages(process):
            event = message.get("event")
            if event == "result":
                self._settle(message)
            elif event in {"state", "unavailable"}:
                self._tell(message)
        why = ending(process)
        if self.state.name == "starting" and not self.state.details:
            why = f"{self._python} is no Python that can run the agent: {self.log().strip() or why}"
        with self.changed:
            self._why_not = self._why_not or why
            for ticket in self._tickets.values():
                ticket.settle(JobResult(None, "dead", self._why_not, (), 0.0))
            self._tickets.clear()
            self.changed.notify_all()
        self._tell({"name": "closed", "text": why})

    def _settle(self, message: dict[str, Any]) -> None:
        with self.changed:
            ticket = self._tickets.pop(message.get("id", 0), None)
            if ticket is not None:
                ticket.settle(result_of(message))
                self.changed.notify_all()

    def _tell(self, message: dict[str, Any]) -> None:
        """Note a new state, and what it says about being ready."""
        seconds = time.monotonic() - self._started
        name = "unavailable" if message.get("event") == "unavailable" else str(message.get("name", ""))
        state = State(name, str(message.get("text", "")), round(seconds, 3), message)
        with self.changed:
            self.state = state
            if name == "unavailable":
                self._why_not = state.text
            elif name == "ready" and self._ready is None:
                told = (str(message.get(field, "")) for field in ("torch", "python", "tier", "mode"))
                self._ready = Ready(*told, seconds=state.seconds, cuda=bool(message.get("cuda")))
            self.changed.notify_all()
        if self._on_state is not None:
            # Whatever goes wrong while showing it, results must go on arriving.
            with contextlib.suppress(Exception):
                self._on_state(state)


def as_completed(tickets: Iterable[Ticket], timeout: float | None = None) -> Iterator[Ticket]:
    """The tickets, each as soon as it is done.

    Raises:
        TimeoutError: they are not all done after `timeout` seconds.
    """
    waiting = list(tickets)
    end = None if timeout is None else time.monotonic() + timeout
    while waiting:
        changed = waiting[0].agent.changed
        with changed:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not changed.wait_for(partial(_any_done, waiting), left):
                raise TimeoutError(f"{len(waiting)} jobs are not done after {timeout} s")
        done = [ticket for ticket in waiting if ticket.done()]
        waiting = [ticket for ticket in waiting if ticket not in done]
        yield from done


def _any_done(tickets: list[Ticket]) -> bool:
    return any(ticket.done() for ticket in tickets)
