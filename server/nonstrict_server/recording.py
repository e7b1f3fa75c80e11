"""Runs a test or a script in the user's interpreter, outside the sandbox, and keeps what torch compiled in it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import threading
import time
from typing import TYPE_CHECKING, NamedTuple

from nonstrict.text.decode import normalised
from nonstrict.text.source import SourceKind, UnreadableSource, read_source, source_kind
from nonstrict_server.confirming import UNTRUSTED, in_thread
from nonstrict_server.protocol import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.recorded_command import Recorded, Wanted
    from nonstrict_server.server import Server

#: How long a program has to end after it was asked to, in seconds.
_GRACE = 5.0
#: How long what it wrote last may take to come, in seconds.
_LAST_WORDS = 1.0
#: What it writes is passed on in pieces of so many bytes, with a pause after each (s), and so many bytes in all.
_PIECE, _PAUSE, _MOST_OUTPUT = 1 << 16, 0.05, 4_000_000


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
        self._check_saved(target)
        if self.running is not None:
            raise RequestFailedError(f"`{self.running.name}` is running: wait for it, or cancel it")
        program = self._program = _Program(lambda line: self._server.scheduler.tell(self._server.note, line))
        self._tell(target)
        work = in_thread(lambda: _recorded(task, program))
        work.add_done_callback(lambda _: self._tell(None))
        try:
            # Who no longer waits for the answer wants no program to go on; until it has ended, no other one begins.
            done = await asyncio.shield(work)
        except asyncio.CancelledError:
            program.end()
            raise
        except OSError as error:
            raise RequestFailedError(f"`{task.command[0]}` could not be started: {error.strerror or error}") from error
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
        if source_kind(target.path) is not SourceKind.PYTHON or not os.path.isfile(target.path):
            raise RequestFailedError(f"`{target.name}` is no Python file on the disk")
        own = folder.projects.of(target.path)
        python = chosen_python(own, lambda _: True).path
        # Of a path, pytest takes what is in brackets for parameters of a test.
        name = os.path.relpath(target.path, own.root)
        command = (python, "-m", "pytest", "-q", f"{name}{target.selector}") if target.selector else (python, name)
        return _Task(command, own.root, Wanted.of(folder.settings.root))

    def _check_saved(self, target: Traced) -> None:
        """What runs is the file; its lines would not be those of another text."""
        text = self._server.documents.text_of(target.path)
        try:
            saved = read_source(target.path).text
        except UnreadableSource as error:
            raise RequestFailedError(str(error)) from error
        if text is not None and _lines(text) != _lines(saved):
            raise RequestFailedError(f"`{os.path.basename(target.path)}` has changes that are not saved: save it first")

    def _tell(self, target: Traced | None) -> None:
        if target is None:
            self._program = None
        before, self.running = self.running, target
        for listener in self._server.on_recording:
            listener(target)
        self._server.changed(frozenset(one.path for one in (before, target) if one is not None))

    def _answered(self, target: Traced, done: Recorded, *, is_cancelled: bool) -> str:
        """Say how it went, and have what was recorded shown."""
        from nonstrict.check.imported_runs import summary

        server, compiled = self._server, done.imported is not None and bool(done.imported.observed.regions)
        server.changed(None)
        for complaint in (*filter(None, (done.unkept,)), *done.complaints, *done.seen.failures):
            server.complain(complaint)
        if is_cancelled:
            return ""
        told = summary(done.imported) if done.imported is not None and compiled else "Nothing was compiled"
        if done.status:
            server.complain(f"`{target.name}` ended with exit status {done.status}; the log holds its output. {told}.")
        else:
            server.inform(f"`{target.name}`: {told}")
        return told


class _Program:
    """A process with a group of its own, so that it can be ended with all that it started. Thread-safe.

    On systems without process groups only the process itself is ended.
    """

    def __init__(self, heard: Callable[[str], None]) -> None:
        self._heard = heard
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self.is_ended = False

    def run(self, command: Sequence[str], directory: str, environment: Mapping[str, str]) -> int:
        """Run a command to its end; its exit status as shells count. What it writes is heard a piece at a time."""
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
                start_new_session=True,
            )
        # What it leaves behind may hold the pipe open for good: its own end counts.
        reader = threading.Thread(target=self._listen, args=(process,), name="nonstrict-listen", daemon=True)
        reader.start()
        status = process.wait()
        reader.join(_LAST_WORDS)
        return 128 - status if status < 0 else status

    def end(self) -> None:
        """Ask the process to end, and see to it that it does."""
        self._signal(signal.SIGTERM)
        timer = threading.Timer(_GRACE, self.kill)
        timer.daemon = True
        timer.start()

    def kill(self) -> None:
        """End the process at once, and what is left of its group."""
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        """Pass on what it writes, some time's lines together, up to a limit."""
        left = _MOST_OUTPUT
        with contextlib.suppress(OSError, ValueError):
            while process.stdout is not None and (data := os.read(process.stdout.fileno(), _PIECE)):
                if left > 0:
                    self._heard(data[:left].decode("utf-8", "replace").rstrip("\r\n"))
                    left -= len(data)
                    if left <= 0:
                        self._heard("... (the rest of its output is left out)")
                    time.sleep(_PAUSE)

    def _signal(self, number: int) -> None:
        """Signal the process and all that it started, as far as they are still there."""
        with self._lock:
            self.is_ended = True
            process = self._process
        if process is None:
            return
        # The group may outlive the process that began it.
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, number)
            elif process.poll() is None:
                process.terminate()


def _lines(text: str) -> str:
    """A text without what editors and files may differ in: the byte order mark, and how lines end."""
    return normalised(text.removeprefix("\ufeff"))


def _recorded(task: _Task, program: _Program) -> Recorded:
    from nonstrict.check.recorded_command import recorded

    def run(command: Sequence[str], environment: Mapping[str, str]) -> int:
        return program.run(command, task.directory, environment)

    return recorded(task.command, task.wanted, run, os.environ)
