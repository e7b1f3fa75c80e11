"""Where jobs get their processes from: forked from a zygote, or (worker_pool.py) one each."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING, Any, Protocol

from nonstrict_agent import environment
from nonstrict_agent.framing import PIECE, line_of, parse, write_all

if TYPE_CHECKING:
    from selectors import BaseSelector

    from nonstrict_agent.results import Run

#: Reasons for which processes cannot be forked from a warm one, but can be started each for itself.
ONLY_WORKERS = frozenset({"threads"})


class Owner(Protocol):
    """What a pool tells the broker."""

    selector: BaseSelector

    def progress(self, message: dict[str, Any]) -> None:
        """Something to show to the user."""

    def ready(self, pool: Pool, message: dict[str, Any]) -> None:
        """The pool can take jobs."""

    def ended(self, run: Run) -> None:
        """The process of a run is gone; whatever it wrote was taken in."""

    def lost(self, pool: Pool, reason: str, text: str) -> None:
        """The pool's own process is gone, or of no use; its runs are over without a result."""


class Surroundings:
    """What all pools of a broker share."""

    def __init__(self, owner: Owner, options: dict[str, Any], tier: str) -> None:
        self.owner = owner
        self.cache = environment.tier_of(str(options["cache"]), tier)
        self.tier = tier
        self.hidden = tuple(map(str, options.get("hidden", ())))
        self.testing = bool(options.get("testing"))
        self.slots = max(1, int(options.get("slots", 2)))

    def settings(self, run: Run) -> dict[str, Any]:
        """What the process of a run is told besides its job."""
        return {"tier": self.tier, "seconds": run.seconds, "hidden": self.hidden, "testing": self.testing}


class Pool:
    """Processes for one device. `runs` are those under way."""

    def __init__(self, shared: Surroundings, device: str) -> None:
        self.shared = shared
        self.device = device
        self.runs: list[Run] = []
        self.was_ready = False

    def can_take(self, run: Run) -> bool:
        """Whether a run may start now."""
        raise NotImplementedError

    def take(self, run: Run) -> None:
        """Start a run's process."""
        raise NotImplementedError

    def end(self, run: Run) -> None:
        """Kill a run's process; `Owner.ended` follows."""
        raise NotImplementedError

    def idle(self, waiting: list[Run]) -> None:
        """Use a moment in which none of the runs that wait for this pool can start."""

    def pids(self) -> set[int]:
        """The pool's own processes."""
        raise NotImplementedError

    def close(self) -> None:
        """Kill the pool's processes, without a word to the owner."""
        raise NotImplementedError


class ForkPool(Pool):
    """Forks runs from a zygote. On a CPU it learns to compile kernels once it is ready, so that others can begin."""

    def __init__(self, shared: Surroundings, device: str) -> None:
        super().__init__(shared, device)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket = ours
        told = {"fd": theirs.fileno(), "parent": os.getpid(), "device": device, "cache": shared.cache}
        self._process = spawn("zygote", told, pass_fds=(theirs.fileno(),), stdin=subprocess.DEVNULL)
        theirs.close()
        self._pipes: dict[int, int] = {}
        self._unusable = ("", "")
        self._torch = ""
        #: How far it is with kernels: "cold", "heating" (the cache on disk), "heated", "warming" (itself), "warm".
        self._kernels = "cold" if device == "cpu" else "warm"
        shared.owner.selector.register(ours, 1, self._told)

    def can_take(self, run: Run) -> bool:
        """See `Pool`."""
        if not self.was_ready or self._kernels == "warming" or (self.device != "cpu" and self.runs):
            return False
        return self._kernels == "warm" or not _needs_kernels(run)

    def take(self, run: Run) -> None:
        """See `Pool`."""
        reading, writing = os.pipe()
        job = _anonymous(json.dumps(run.job).encode())
        message = {"op": "run", "id": run.number, **self.shared.settings(run)}
        try:
            socket.send_fds(self._socket, [line_of(message)], [job, writing])
        except OSError:
            # The zygote is dead: its end of the socket tells that as well, and `lost` says what becomes of the run.
            pass
        finally:
            os.close(job)
            os.close(writing)
        os.set_blocking(reading, False)
        self.runs.append(run)
        self._pipes[run.number] = reading
        self.shared.owner.selector.register(reading, 1, lambda: self._read(run))

    def end(self, run: Run) -> None:
        """See `Pool`."""
        self._send({"op": "end", "id": run.number})

    def idle(self, waiting: list[Run]) -> None:
        """See `Pool`."""
        if not self.was_ready:
            return
        if self._kernels == "cold":
            known = os.path.exists(self._heated_mark())
            self._kernels = "heated" if known else "heating"
            if not known:
                text = "compiling a first kernel; this takes some 10 s once per machine"
                self.shared.owner.progress({"event": "state", "name": "heating", "text": text, "zygote": self.device})
                self._send({"op": "heat"})
        kernels_next = all(_needs_kernels(run) for run in waiting) if waiting else not self.runs
        if self._kernels == "heated" and kernels_next:
            self._kernels = "warming"
            text = "learning to compile kernels"
            self.shared.owner.progress({"event": "state", "name": "heating", "text": text, "zygote": self.device})
            self._send({"op": "warm"})

    def pids(self) -> set[int]:
        """See `Pool`."""
        return {self._process.pid}

    def close(self) -> None:
        """See `Pool`."""
        selector = self.shared.owner.selector
        for reading in self._pipes.values():
            with contextlib.suppress(KeyError):
                selector.unregister(reading)
            os.close(reading)
        self._pipes.clear()
        with contextlib.suppress(KeyError, ValueError):
            selector.unregister(self._socket)
        self._socket.close()
        self._process.kill()
        self._process.wait()

    def _heated_mark(self) -> str:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}-torch-{self._torch}"
        return os.path.join(environment.directories(self.shared.cache).warm, f"heated-{version}")

    def _send(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self._socket.send(line_of(message))

    def _told(self) -> None:
        """Take in one message of the zygote, or its end."""
        try:
            data = self._socket.recv(1 << 16)
        except OSError:
            data = b""
        if not data:
            self.shared.owner.selector.unregister(self._socket)
            self._process.kill()
            reason, text = self._unusable
            self.shared.owner.lost(self, reason or "died", text or how_it_ended(self._process.wait()))
            return
        message = parse(data)
        event = message.get("event")
        if event == "ended":
            self._ended(message)
        elif event == "unusable":
            self._unusable = (str(message["reason"]), str(message["text"]))
        elif event == "state" and message.get("name") == "ready":
            self.was_ready, self._torch = True, message.get("torch", "")
            self.shared.owner.ready(self, message)
        elif event == "state":
            self.shared.owner.progress(message)
        elif event == "heated":
            self._kernels = "heated"
        elif event == "warmed":
            self._warmed()

    def _warmed(self) -> None:
        self._kernels = "warm"
        with contextlib.suppress(OSError), open(self._heated_mark(), "wb"):
            pass
        text = "kernels compile fast now"
        self.shared.owner.progress({"event": "state", "name": "warm", "text": text, "zygote": self.device})

    def _ended(self, message: dict[str, Any]) -> None:
        run = next((run for run in self.runs if run.number == message["id"]), None)
        if run is None:
            # The heater could not be forked: the cache fills more slowly then.
            self._kernels = "heated" if self._kernels == "heating" else self._kernels
            return
        if "why" in message:
            run.verdict = run.verdict or ("processes", str(message["why"]))
        # What is still in the pipe is all there will be, whoever may hold its other end.
        while run.number in self._pipes:
            if not self._read(run):
                break
        self._forget_pipe(run)
        self.runs.remove(run)
        self.shared.owner.ended(run)

    def _read(self, run: Run) -> bool:
        """Take in what a run wrote; False if there is nothing now."""
        try:
            piece = os.read(self._pipes[run.number], PIECE)
        except BlockingIOError:
            return False
        if not piece:
            self._forget_pipe(run)
        elif not run.take(piece):
            self._forget_pipe(run)
            self.end(run)
        return True

    def _forget_pipe(self, run: Run) -> None:
        reading = self._pipes.pop(run.number, None)
        if reading is not None:
            self.shared.owner.selector.unregister(reading)
            os.close(reading)


def _needs_kernels(run: Run) -> bool:
    return run.job.get("backend") == "inductor"


def spawn(role: str, told: dict[str, Any], **how: Any) -> subprocess.Popen[bytes]:
    """Start another process of the agent, the way this one was started; `how` is for `Popen`, which deals in bytes."""
    # The interpreter's own options, the bootstrap and the package's directory; the last argument is the role.
    start = sys.orig_argv[1:-1]
    return subprocess.Popen[bytes]([sys.executable, *start, role, json.dumps(told)], **how)


def how_it_ended(status: int) -> str:
    """A sentence for the status of a `Popen`."""
    if status < 0:
        with contextlib.suppress(ValueError):
            return f"ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"


def _anonymous(data: bytes) -> int:
    """A descriptor to read the data from that has no name on any disk."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("job")
        write_all(descriptor, data)
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            file.write(data)
            file.flush()
            descriptor = os.dup(file.fileno())
    os.lseek(descriptor, 0, os.SEEK_SET)
    return descriptor
