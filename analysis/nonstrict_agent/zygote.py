"""The warm process that jobs are forked from: torch imported, a function compiled, one thread, no GPU touched.

Talks with the broker over a socket that keeps messages apart. It takes
    {"op": "run", "id", "tier", "seconds", "hidden", "testing"}
                            with two descriptors: the job to read, and where its result goes
    {"op": "end", "id"}     end that job's process now
    {"op": "heat"}          compile a first kernel in a process of its own: fills the cache on disk, takes 10 s once
    {"op": "warm"}          compile a first kernel here; 2 s if the cache is filled, and no job starts meanwhile
and tells {"event": "state", ...}, {"event": "ended", "id"}, {"event": "heated"}, {"event": "warmed"},
{"event": "unusable", "reason", "text"}. It never looks into jobs or results.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import sys
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from nonstrict_agent import environment, warming
from nonstrict_agent.framing import line_of, parse
from nonstrict_agent.isolation.containment import GPU_MEMORY
from nonstrict_agent.isolation.tiers import Containment, Tier, contained, end, prepare
from nonstrict_agent.processes import adopt_orphans, children, die_with, end_others, holds_gpu, other_threads, reap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

#: The longest message between broker and zygote, in bytes; jobs travel by descriptor.
_LONGEST = 1 << 16
#: The number under which the process that heats the cache is known.
_HEATER = 0


def serve(told: str) -> None:
    """Become ready, fork jobs until the broker is gone; `told` is JSON with "fd", "parent", "device", "cache"."""
    given = json.loads(told)
    die_with(given["parent"])
    adopt_orphans()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with socket.socket(fileno=given["fd"]) as broker:
        broker.set_inheritable(False)
        zygote = Zygote(broker, given["device"], given["cache"])
        try:
            zygote.prepare()
        except warming.Unusable as problem:
            zygote.tell({"event": "unusable", "reason": problem.reason, "text": str(problem)})
            return
        zygote.loop()
    end_others(())


class Zygote:
    """State of the process: who its children are, and how to talk to the broker."""

    def __init__(self, broker: socket.socket, device: str, cache: str) -> None:
        self._broker = broker
        self._device = device
        self._where = environment.directories(cache)
        #: Which process runs which job.
        self._running: dict[int, int] = {}
        self._torch: ModuleType | None = None
        self._woken, self._waker = os.pipe()

    def tell(self, message: dict[str, Any]) -> None:
        """Send one message to the broker."""
        self._broker.send(line_of({**message, "zygote": self._device}))

    def prepare(self) -> None:
        """Import torch and, on a CPU, compile a first function; a compile would initialise CUDA.

        Raises:
            Unusable: this interpreter cannot run experiments.
        """
        environment.before_torch(self._where, self._device)
        watch = warming.Stopwatch(self.tell)
        torch = self._torch = warming.import_torch(watch)
        if self._device == "cpu":
            watch.step("warming", "compiling a first function")
            warming.start_autograd(torch)
            warming.compile_once(torch, "aot_eager")
        prepare()
        warming.settle()
        self._may_fork()
        for descriptor in (self._woken, self._waker):
            os.set_blocking(descriptor, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self._waker, warn_on_full_buffer=False)
        watch.step("ready", "ready", mode="fork", **warming.description(torch))

    def _may_fork(self) -> None:
        """Make sure that a fork of this process works as the process itself does.

        Raises:
            Unusable: there are other threads, which a fork would not have, or CUDA is initialised, which it breaks.
        """
        if others := other_threads():
            raise warming.Unusable(
                "threads",
                f"importing torch left other threads ({', '.join(others)}), and such a process cannot be forked",
            )
        if holds_gpu():
            raise warming.Unusable(
                "gpu-open",
                "importing torch initialises CUDA here, which no forked process could use: jobs run on the CPU only",
            )

    def loop(self) -> None:
        """Serve until the broker closes its end."""
        while True:
            ready, _, _ = select.select([self._broker, self._woken], [], [])
            if self._woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(self._woken, 4096)
                self._reap()
            if self._broker in ready:
                data, descriptors, _, _ = socket.recv_fds(self._broker, _LONGEST, 2)
                if not data:
                    return
                self._obey(parse(data), descriptors)

    def _obey(self, message: dict[str, Any], descriptors: list[int]) -> None:
        operation = message["op"]
        if operation == "run":
            self._fork(message["id"], lambda: _run(message, *descriptors, where=self._where))
            for descriptor in descriptors:
                os.close(descriptor)
        elif operation == "end":
            for pid, number in self._running.items():
                if number == message["id"]:
                    _end(pid)
        elif operation == "heat":
            self._fork(_HEATER, self._compile)
        elif operation == "warm":
            self._compile()
            warming.settle()
            self.tell({"event": "warmed"})

    def _fork(self, number: int, task: Callable[[], object]) -> None:
        """Run a task in a process of its own, which never comes back here."""
        own = os.getpid()
        try:
            self._may_fork()
            pid = os.fork()
        except (warming.Unusable, OSError) as problem:
            self.tell({"event": "ended", "id": number, "why": f"no process could be forked: {problem}"})
            return
        if pid:
            self._running[pid] = number
            return
        status = 1
        try:
            die_with(own)
            signal.set_wakeup_fd(-1)
            for name in (signal.SIGCHLD, signal.SIGINT):
                signal.signal(name, signal.SIG_DFL)
            for descriptor in (self._woken, self._waker, self._broker.detach()):
                os.close(descriptor)
            task()
            status = 0
        except BaseException:  # noqa: BLE001 - nothing may return into the zygote's loop
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)

    def _compile(self) -> None:
        assert self._torch is not None  # noqa: S101 - jobs come after `prepare`
        with contextlib.suppress(Exception):  # Without a C++ compiler: each job will say so itself.
            warming.compile_once(self._torch, "inductor")

    def _reap(self) -> None:
        """Wait for the dead; when a job's process is among them, end what it left behind, and tell."""
        ended = [pid for pid in self._running if reap(pid) is not None]
        numbers = [self._running.pop(pid) for pid in ended]
        for pid in children():
            if pid not in self._running:
                end_others(self._running)
                break
        for number in numbers:
            self.tell({"event": "heated"} if number == _HEATER else {"event": "ended", "id": number})


def _end(pid: int) -> None:
    """Kill a job's process and what it started."""
    end(pid)
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _run(message: dict[str, Any], job_fd: int, result_fd: int, where: environment.Directories) -> NoReturn:
    """Perform one job, contained; called in its own process."""
    with os.fdopen(job_fd, "rb") as file:
        job = json.load(file)
    perform_contained(job, message, result_fd, where)


def perform_contained(
    job: dict[str, Any], settings: dict[str, Any], result_fd: int, where: environment.Directories
) -> NoReturn:
    """Perform one job in the containment that `settings` ask for, and end this process."""
    caches = where.of_job(job)
    environment.caches_in(caches)
    work = work_for(job, testing=bool(settings.get("testing")))
    on_gpu = is_on_gpu(job)
    containment = Containment(
        Tier(settings["tier"]),
        writable=(caches, *job.get("writable", ())),
        visible=tuple(_files_of(job)),
        hidden=tuple(settings.get("hidden", ())),
        directory=job.get("root"),
        seconds=float(settings["seconds"]),
        memory=GPU_MEMORY if on_gpu else Containment.memory,
        gpu=on_gpu,
    )
    contained(work, containment, result_fd)


def is_on_gpu(job: dict[str, Any]) -> bool:
    """Whether a job may use a GPU."""
    return str(job.get("device", "")).startswith("cuda")


def _files_of(job: dict[str, Any]) -> Iterator[str]:
    """Where the files of a job are, which may lie outside of its project."""
    for name in ("path", "file"):
        if name in job:
            yield job[name]
    yield from job.get("folders", ())
    yield from (folder for _, folder in job.get("packages", ()))


def work_for(job: dict[str, Any], *, testing: bool) -> Callable[[], Any]:
    """What to call for a job; when testing, {"kind": "python", "file", "function", "arguments"} calls any function."""
    if testing and job.get("kind") == "python":
        return lambda: _call(job)

    def work() -> Any:
        from nonstrict_agent.jobs import perform

        return perform(job)

    return work


def _call(job: dict[str, Any]) -> Any:
    import runpy

    return runpy.run_path(job["file"])[job["function"]](**job.get("arguments", {}))
