"""What `nonstrict check --watch` writes of each round: to people, or as JSON lines to programs."""

from __future__ import annotations

import io
import json
import os
import sys
import time
from collections import Counter
from contextlib import ExitStack, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, NamedTuple, Protocol

from nonstrict.check.faults import Losses
from nonstrict.cli.reporting import write
from nonstrict.report.context import Lines
from nonstrict.report.fingerprints import identified
from nonstrict.report.summary import plural

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from nonstrict.cli.check import Once

_CLEAR = "\x1b[H\x1b[2J"
_WIPE = "\r\x1b[K"


class Round(NamedTuple):
    """A round: its number, the paths that changed, what a run told, how many findings came and went, its time."""

    number: int
    changed: Sequence[str]
    once: Once
    new: int
    gone: int
    seconds: float


class Face(Protocol):
    """How rounds are shown: `for_people` or for programs."""

    for_people: bool

    def shown(self, number: int, changed: Sequence[str], check: Callable[[], Once]) -> None:
        """Check, and write what was told."""
        ...

    def end(self) -> None:
        """No round follows."""
        ...


def face_of(options: argparse.Namespace, polling: Callable[[], str]) -> Face:
    """What the options and standard output ask for; `polling` says why folders are looked at again, if they are."""
    terminal = sys.stdout.isatty()
    wanted = options.output_format
    if wanted == "json-lines" or (wanted is None and not terminal):
        return _Lines()
    return _People(polling, quiet=options.quiet, clearing=terminal and os.environ.get("TERM") != "dumb")


class _Compared:
    """The findings of the last round, by what a moved line does not change."""

    def __init__(self) -> None:
        self._before: Counter[str] | None = None

    def round(self, number: int, changed: Sequence[str], check: Callable[[], Once]) -> Round:
        """Check once; the first round has nothing new."""
        started = time.perf_counter()
        once = check()
        seconds = time.perf_counter() - started
        new = gone = 0
        losses = Losses()
        with losses.losing("the findings were not compared with those of the round before", os.curdir):
            lines = Lines(once.result.read)
            now = Counter(identified(once.result.diagnostics, lines, os.path.abspath))
            before, self._before = self._before, now
            if before is not None:
                new, gone = (now - before).total(), (before - now).total()
        result = losses.added_to(once.result)
        for failure in result.failures[len(once.result.failures) :]:
            sys.stderr.write(f"nonstrict: {failure}\n")
        return Round(number, changed, once, new, gone, seconds)


class _Lines:
    """JSON lines: the findings of a round as `json-lines` has them, between two lines of `type` that tell of it."""

    for_people = False

    def __init__(self) -> None:
        self._compared = _Compared()

    def shown(self, number: int, changed: Sequence[str], check: Callable[[], Once]) -> None:
        _record({"type": "round-begin", "round": number, "changed": list(changed)})
        one = self._compared.round(number, changed, check)
        result = one.once.result
        _record(
            {
                "type": "round-end",
                "round": number,
                "findings": len(result.diagnostics),
                "new": one.new,
                "gone": one.gone,
                "files": result.files,
                "seconds": round(one.seconds, 3),
                "status": int(one.once.status),
                "failures": list(result.failures),
            }
        )

    def end(self) -> None:
        pass


def _record(record: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(record, separators=(",", ":")) + "\n")
    sys.stdout.flush()


class _People:
    """What `nonstrict check` writes, and a last line that says what became of it; on a terminal, on a clear screen."""

    for_people = True

    def __init__(self, polling: Callable[[], str], *, quiet: bool, clearing: bool) -> None:
        self._polling = polling
        self._quiet = quiet
        self._clearing = clearing
        self._compared = _Compared()

    def shown(self, number: int, changed: Sequence[str], check: Callable[[], Once]) -> None:
        if not self._clearing:
            one = self._compared.round(number, changed, check)
        elif number == 1:
            write(_CLEAR, None, sys.stdout)
            sys.stdout.flush()
            one = self._compared.round(number, changed, check)
        else:
            one = self._redrawn(number, changed, check)
        sys.stdout.flush()
        if not self._quiet:
            write(self._last_line(one), None, sys.stdout)
            sys.stdout.flush()

    def _redrawn(self, number: int, changed: Sequence[str], check: Callable[[], Once]) -> Round:
        """A round whose findings take the place of those before once they are known."""
        write(f"{_WIPE}Checking …", None, sys.stdout)
        sys.stdout.flush()
        stdout, stderr = sys.stdout, sys.stderr
        told, said = _Screen(stdout), _Screen(stderr, terminal=False)
        try:
            with ExitStack() as stack:
                stack.enter_context(redirect_stdout(told))
                # On the same screen, it would be wiped out.
                if stderr.isatty():
                    stack.enter_context(redirect_stderr(said))
                return self._compared.round(number, changed, check)
        finally:
            write(_CLEAR + told.getvalue(), None, stdout)
            stdout.flush()
            write(said.getvalue(), None, stderr)
            stderr.flush()

    def _last_line(self, one: Round) -> str:
        moment = time.strftime("%H:%M:%S")
        result = one.once.result
        counted = f"{plural(result.files, 'file')}, {plural(len(result.diagnostics), 'finding')}"
        parts = [f"+{one.new:,} new"] if one.new else []
        parts += [f"{one.gone:,} gone"] if one.gone else []
        compared = f" ({', '.join(parts)})" if parts else " (as before)" if one.number > 1 else ""
        why = self._polling()
        waiting = f"Looking for changes again and again: {why}." if why else "Waiting for changes."
        return f"[{moment}] {counted}{compared}, {one.seconds:.2f} s. {waiting} Ctrl-C ends." + (
            "" if self._clearing else "\n"
        )

    def end(self) -> None:
        if self._clearing:
            write("\n", None, sys.stdout)


class _Screen(io.StringIO):
    """What is written to a stream, kept back; as capable as the stream is, unless it is said to be no terminal."""

    def __init__(self, stream: TextIO, *, terminal: bool = True) -> None:
        super().__init__(newline="")
        self._terminal = terminal and stream.isatty()

    def isatty(self) -> bool:
        return self._terminal
