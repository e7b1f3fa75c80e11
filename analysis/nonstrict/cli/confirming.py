"""Experiments as commands run them: the options, and progress on standard error."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from nonstrict.check.confirmation import Confirmed
    from nonstrict.check.run import CheckResult
    from nonstrict.confirm.client import State
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings

#: Seconds between two lines of progress where there is no terminal to draw on.
_QUIET_INTERVAL = 10.0
_INTERVAL = 0.1


def confirmed(result: CheckResult, settings: Settings, options: argparse.Namespace) -> CheckResult:
    """A result with verdicts; what kept experiments from being run becomes a failure of the run."""
    answer = experiments(result, settings, options)
    failures = (*result.failures, *answer.failures)
    result = result._replace(diagnostics=answer.diagnostics, failures=failures)
    return result._replace(interrupted=answer.interrupted, measured=answer.measured)


def experiments(
    result: CheckResult, settings: Settings, options: argparse.Namespace, known: Sequence[Diagnostic] = ()
) -> Confirmed:
    """Run the experiments of a result, with progress; `known` are further findings, which are not tried."""
    from nonstrict.check.confirmation import ConfirmOptions, Context, confirm

    progress = None if options.quiet or options.silent else Progress()
    try:
        return confirm(
            result.diagnostics,
            result.read,
            settings,
            ConfirmOptions(
                seconds=options.timeout,
                isolation=options.isolation,
                device=options.device,
                jobs=options.jobs,
                workers=options.workers,
                cluster=options.cluster or "",
                cache=not options.no_cache,
                full_import=options.full_import,
                repro=options.write_repro or "",
                trusted=trusting(options),
                on_notice=None if options.silent else notice,
                on_state=progress.state if progress else None,
                on_count=progress.count if progress else None,
            ),
            Context(known, result.nested),
        )
    finally:
        if progress is not None:
            progress.close()


def trusting(options: argparse.Namespace) -> Callable[[str], bool]:
    """Which folders may bring their own interpreter: by `--trust` all of this run, else those on the user's list."""
    from nonstrict.confirm.trust import is_trusted

    return (lambda _: True) if options.trust else is_trusted


def notice(text: str) -> None:
    """Tell something that no run fails for."""
    sys.stderr.write(f"nonstrict: {text}\n")


class Progress:
    """What experiments are doing: one line that is redrawn on a terminal, a line now and then elsewhere."""

    def __init__(self) -> None:
        """Start the clock."""
        self._started = time.monotonic()
        self._drawn = sys.stderr.isatty()
        self._next = 0.0
        self._text = ""

    def state(self, state: State) -> None:
        """Take in a state of the agent."""
        if state.text and state.name not in {"closed", "ready", "unavailable"}:
            self._show(state.text[0].upper() + state.text[1:])

    def count(self, done: int, total: int) -> None:
        """Take in how many findings are done."""
        noun = "finding" if total == 1 else "findings"
        self._show(f"Tried {done:,} of {total:,} {noun}" if done else f"Trying {total:,} {noun}")

    def close(self) -> None:
        """Wipe the line."""
        if self._drawn and self._text:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    def _show(self, text: str) -> None:
        now = time.monotonic()
        if now < self._next and text.split(" ", 1)[0] == self._text.split(" ", 1)[0]:
            return
        self._next = now + (_INTERVAL if self._drawn else _QUIET_INTERVAL)
        self._text = text
        line = f"{text} ({now - self._started:.0f} s)"
        sys.stderr.write(f"\r\x1b[K{line}" if self._drawn else f"nonstrict: {line}\n")
        sys.stderr.flush()
