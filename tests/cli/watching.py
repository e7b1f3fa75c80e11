"""`nonstrict check --watch` as a process, with what it writes in a pipe or on a terminal."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence
    from pathlib import Path

#: Seconds that a round may take on a computer that is busy with other things.
PATIENCE = 60.0
MODULE = ("-m", "nonstrict")
#: Have each file be a part of its own, as in a large project.
SMALL_PARTS = (
    "-c",
    "from nonstrict.check import analysis; analysis._PART_BYTES = 1; from nonstrict.cli.main import command; command()",
)


class Told(NamedTuple):
    """A round as it was written: its records, and the findings between them as they stand there."""

    begin: dict[str, Any]
    findings: str
    end: dict[str, Any]

    @property
    def changed(self) -> set[str]:
        """The names of what changed."""
        return {os.path.basename(path) for path in self.begin["changed"]}

    @property
    def codes(self) -> list[str]:
        return [json.loads(line)["code"] for line in self.findings.splitlines()]


class Watcher:
    """A process that watches, and what it wrote."""

    def __init__(self, folder: Path, arguments: Sequence[str], start: Sequence[str], **environment: str) -> None:
        self._folder = folder
        self.process = subprocess.Popen(
            [sys.executable, *start, "check", "--watch", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env=_environment(environment),
        )
        self.complaints: list[str] = []
        self._lines: queue.Queue[str] = queue.Queue()
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        for stream, put in ((self.process.stdout, self._lines.put), (self.process.stderr, self.complaints.append)):
            threading.Thread(target=_pump, args=(stream, put), daemon=True).start()

    def round(self) -> Told:
        """The next round."""
        begin = json.loads(self.line())
        assert begin["type"] == "round-begin", begin
        findings = ""
        while not (line := self.line()).startswith('{"type":'):
            findings += line
        end = json.loads(line)
        assert (end["type"], end["round"]) == ("round-end", begin["round"])
        return Told(begin, findings, end)

    def round_of(self, *names: str) -> Told:
        """The first round for changes of these, or the one that follows those for some of them."""
        left = set(names)
        while True:
            told = self.round()
            left -= told.changed
            if not left:
                return told

    def write(self, name: str, text: str) -> Told:
        """Save a file, and wait for the round that knows it."""
        path = self._folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return self.round_of(path.name)

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal; the exit status."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)

    def line(self) -> str:
        """The next line of standard output."""
        try:
            return self._lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise AssertionError(f"nothing is written any more\n{''.join(self.complaints)}") from None


def _environment(more: dict[str, str]) -> dict[str, str]:
    hidden = ("NONSTRICT_", "WATCHFILES_", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR", "CI")
    return {**{name: value for name, value in os.environ.items() if not name.startswith(hidden)}, **more}


class Screen:
    """A terminal in which a process watches."""

    def __init__(self, folder: Path, **environment: str) -> None:
        import pty

        self._end, other = pty.openpty()
        self._process = subprocess.Popen(
            [sys.executable, *MODULE, "check", "--watch"],
            cwd=folder,
            stdin=other,
            stdout=other,
            stderr=other,
            env=_environment(environment),
            preexec_fn=_with_terminal,  # noqa: PLW1509 - Ctrl-C goes to those whose terminal it is
        )
        os.close(other)
        self._read = ""

    def until(self, text: str) -> str:
        """What was drawn up to a text, with the line ends of a file."""
        end = time.monotonic() + PATIENCE
        while text not in self._read:
            ready, _, _ = select.select([self._end], [], [], max(end - time.monotonic(), 0))
            assert ready, self._read
            self._read += os.read(self._end, 65536).decode().replace("\r\n", "\n")
        found, _, self._read = self._read.partition(text)
        return found + text

    def type(self, keys: str) -> None:
        os.write(self._end, keys.encode())

    def status(self) -> int:
        return self._process.wait(PATIENCE)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._end)


def _with_terminal() -> None:
    """Have the terminal on standard input be that of a session of its own."""
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@contextmanager
def terminal(folder: Path, **environment: str) -> Generator[Screen]:
    """A terminal in which a folder is watched, for a while."""
    screen = Screen(folder, **environment)
    try:
        yield screen
    finally:
        screen.close()


def _pump(stream: IO[str], put: Any) -> None:
    for line in stream:
        put(line)


@contextmanager
def watching(folder: Path, *arguments: str, start: Sequence[str] = MODULE, **environment: str) -> Generator[Watcher]:
    """A watcher of a folder, for a while; its first round is not read yet."""
    watcher = Watcher(folder, arguments, start, **environment)
    try:
        yield watcher
    finally:
        if watcher.process.poll() is None:
            watcher.process.kill()
        watcher.process.wait()
