"""Runs a test or a script in the user's interpreter, outside the sandbox, and keeps what torch compiled in it."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from typing import TYPE_CHECKING, NamedTuple

from nonstrict_server.confirming import UNTRUSTED, in_thread
from nonstrict_server.protocol import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.recorded_command import Recorded, Wanted
    from nonstrict_server.server import Server

#: How long a program has to end after it was asked to, in seconds.
_GRACE = 5.0


class Traced(NamedTuple):
    """What is run: a file as a script, or the test of it with a `selector`, as pytest calls it."""

    path: str
    selector: str

    @property
    def name(self) -> str:
        """For people: `train.py`, `test_step`."""
        return self.selector.rpartition("::")[2] or os.path.basename(self.path)


class _Task(NamedTuple):
    """What one run needs to know: the command, where it is run, and what is to be kept of it."""

    command: tuple[str, ...]
    directory: str
    wanted: Wanted


class Recorder:
    """The run that somebody asked for, one at a time: two would write the same records. Used on the loop."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._program: _Program | None = None
        self.running: Traced | None = None

    def hindrance(self, path: str) -> str:
        """Why a file is not run, empty if it may be: what runs here is in no sandbox."""
        from nonstrict.confirm.trust import is_trusted

        folder = self._server.engine.roots.folder_of(path)
        if not self._server.trusted or folder is None:
            return UNTRUSTED
        return "" if self._server.is_vouched_for or is_trusted(folder.root) else UNTRUSTED

    async def record(self, target: Traced) -> str:
        """Run a test or a script to its end; what was kept of it, in a line.

        Raises:
            RequestFailedError: it may not be run, something else is running, or it could not be started.
        """
        task = await self._server.scheduler.ask(lambda: self._task(target))
        if self.running is not None:
            raise RequestFailedError(f"`{self.running.name}` is running: wait for it, or cancel it")
        program = self._program = _Program(lambda line: self._server.scheduler.tell(self._server.note, line))
        self._tell(target)
        try:
            done = await in_thread(lambda: _recorded(task, program))
        except OSError as error:
            raise RequestFailedError(f"`{task.command[0]}` could not be started: {error.strerror or error}") from error
        finally:
            self._program = None
            self._tell(None)
        return self._answered(target, done, is_cancelled=program.is_ended)

    def cancel(self) -> None:
        """End what is running, and what it started."""
        if self._program is not None:
            self._program.end()

    def close(self) -> None:
        """End it at once: no process is left."""
        if self._program is not None:
            self._program.kill()

    def _task(self, target: Traced) -> _Task:
        """In the thread of the analysis."""
        from nonstrict.check.recorded_command import Wanted
        from nonstrict.check.venues import chosen_python

        hindrance, folder = self.hindrance(target.path), self._server.engine.roots.folder_of(target.path)
        if hindrance or folder is None:
            raise RequestFailedError(hindrance)
        own = folder.projects.of(target.path)
        python = chosen_python(own, lambda _: True).path
        pytest = ("-m", "pytest", "-q", f"{target.path}{target.selector}")
        command = (python, *(pytest if target.selector else (target.path,)))
        return _Task(command, own.root, Wanted.of(folder.settings.root))

    def _tell(self, target: Traced | None) -> None:
        before, self.running = self.running, target
        for listener in self._server.on_recording:
            listener(target)
        self._server.changed(frozenset(one.path for one in (before, target) if one is not None))

    def _answered(self, target: Traced, done: Recorded, *, is_cancelled: bool) -> str:
        """Say how it went, and have what was recorded shown."""
        from nonstrict.check.imported_runs import summary

        server, compiled = self._server, done.imported is not None and bool(done.imported.observed.regions)
        server.changed(None)
        for complaint in (*filter(None, (done.unkept,)), *done.complaints):
            server.complain(complaint)
        if is_cancelled:
            return ""
        told = summary(done.imported) if done.imported is not None and compiled else "nothing was compiled"
        if done.status:
            server.complain(f"`{target.name}` ended with exit status {done.status}; the log holds its output. {told}.")
        else:
            server.inform(f"`{target.name}`: {told[0].lower()}{told[1:]}")
        return told


class _Program:
    """A process with a group of its own, so that it can be ended with all that it started. Thread-safe."""

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self.is_ended = False

    def run(self, command: Sequence[str], directory: str, environment: Mapping[str, str]) -> int:
        """Run a command to its end; its exit status. What it writes is heard line by line."""
        with self._lock:
            if self.is_ended:
                return 1
            self._process = process = subprocess.Popen(
                list(command),
                cwd=directory,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                start_new_session=True,
            )
        with process:
            for line in process.stdout or ():
                self._heard(line.rstrip("\r\n"))
        return process.returncode

    def end(self) -> None:
        """Ask the process to end, and see to it that it does."""
        self._signal(signal.SIGTERM)
        timer = threading.Timer(_GRACE, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End the process at once."""
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _signal(self, number: int) -> None:
        """Signal the process and all that it started, if it is still there."""
        with self._lock:
            self.is_ended = True
            process = self._process
        if process is None or process.poll() is not None:
            return
        try:
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            else:
                process.terminate()
        except OSError:
            return


def _recorded(task: _Task, program: _Program) -> Recorded:
    from nonstrict.check.recorded_command import recorded

    def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
        return program.run(command, task.directory, environment)

    return recorded(task.command, task.wanted, run, os.environ)
