"""`nonstrict check --watch`: checks again whenever something changes that the findings rest on."""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from nonstrict.check.cache.held import Held
from nonstrict.check.faults import lost_to
from nonstrict.check.run import CheckResult
from nonstrict.cli.check import Once
from nonstrict.cli.configuration import main_settings, nested_settings
from nonstrict.cli.failure import report_failure
from nonstrict.cli.misuse import WATCHED, refuse_misuse
from nonstrict.cli.overrides import overridden
from nonstrict.cli.rounds import face_of
from nonstrict.cli.status import ExitStatus
from nonstrict.settings.choosing import Remembered
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.extending import configuration_files

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Sequence

    from nonstrict.check.notices import Notices
    from nonstrict.check.watching import Change, Scope
    from nonstrict.settings.model import Settings

#: After so long, a change has another time wherever times count seconds.
_SECOND = 1.2
_GONE = "the working directory is gone."


def watched(options: argparse.Namespace, check: Callable[[argparse.Namespace], Once]) -> int:
    """Check round after round until Ctrl-C, a signal, or until nobody reads what is written; the exit status."""
    try:
        refuse_misuse(options)
    except ConfigurationError as error:
        return report_failure(str(error))
    if find_spec("watchfiles") is None:
        return report_failure("what watches files is not installed. `pip install 'nonstrict[watch]'` installs it.")
    if _is_gone():
        return report_failure(_GONE)
    watching = _Watching(options, check)
    with _terminated() as received:
        try:
            return watching.run()
        except KeyboardInterrupt:
            return 128 + received[0] if received else ExitStatus.INTERRUPTED
        except ConfigurationError:
            return ExitStatus.FAILURE  # told when nothing could be watched
        finally:
            watching.close()


@contextmanager
def _terminated() -> Generator[list[int]]:
    """Have SIGTERM end the rounds as Ctrl-C does; the signals that came."""
    received: list[int] = []

    def end(number: int, _frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield received
    finally:
        signal.signal(signal.SIGTERM, before)


class _Watching:
    """The rounds, and what is watched between them."""

    def __init__(self, options: argparse.Namespace, check: Callable[[argparse.Namespace], Once]) -> None:
        from nonstrict.check.watching import Scope

        self._options = options
        self._wanted = options.output_format
        self._check = check
        self._face = face_of(options, lambda: self._notices.polling if self._notices is not None else "")
        self._notices: Notices | None = None
        self._scope = Scope()
        self._settings: Settings | None = None
        nested = nested_settings(options, lambda settings: overridden(settings, options))
        self._nested = Remembered(nested) if nested is not None else None
        self._told_of = ""
        self._place = os.getcwd()
        self._ended = False
        self._moved: set[str] = set()
        self._states: dict[str, tuple[int, int]] = {}
        self._due = 0.0
        # Nothing is fixed, whatever is configured, and no syntax tree outlives its round.
        options.fix = options.fix_only = False
        options.kept = None
        options.held = Held(disk=not options.no_cache)

    def run(self) -> ExitStatus:
        """Check, wait, and so on; comes back when nobody reads what is written, or the working directory is gone."""
        self._refresh(0)
        changed: Sequence[str] = ()
        number = 1
        while True:
            began = time.time_ns()
            self._note_states()
            self._options.output_format = self._format()
            self._face.shown(number, changed, self._checked)
            if self._ended:
                return report_failure(_GONE)
            before = self._scope
            told = self._wait(before, self._refresh(began))
            if told is None:
                return ExitStatus.CLEAN
            changed, number = told, number + 1

    def _checked(self) -> Once:
        """What a run tells; where there is no place to run in, that."""
        try:
            if not _is_gone():
                return self._check(self._options)
        except OSError:
            if not _is_gone():
                raise
        self._ended = True
        return Once(ExitStatus.FAILURE, CheckResult((), 0, (_GONE,), {}, unread=((os.curdir, _GONE),)))

    def close(self) -> None:
        """End the last line, watch no longer, and keep what was found for the next command."""
        self._face.end()
        if self._notices is not None:
            self._notices.close()
        self._options.held.save()

    def _format(self) -> str:
        """The format of the next round; what is configured and is no format for rounds does not count."""
        if self._wanted is not None:
            return self._wanted
        if not self._face.for_people:
            return "json-lines"
        configured = self._settings.output_format if self._settings is not None else ""
        return configured if configured in WATCHED else "full"

    def _wait(self, before: Scope, changes: list[Change]) -> Sequence[str] | None:
        """Wait for changes that call for a round: the paths; None once nobody reads what is written."""
        if before.differing(self._scope, changes):
            # What it comes from may be told only now.
            changes = [*changes, *self._noticed()]
        while True:
            found = self._called(before, changes, set())
            # Where settings changed, what is checked from now on did not.
            while changes and (self._may_differ(before, changes) or not found <= self._scope.files):
                before, later = self._scope, self._refresh(time.time_ns())
                found, changes = self._called(before, [*changes, *later], found), later
            if _is_gone():
                found.add(self._place)
            if found:
                return sorted(found)
            before = self._scope
            if _is_unread(sys.stdout.fileno()):
                return None
            changes = self._noticed()

    def _may_differ(self, before: Scope, changes: list[Change]) -> bool:
        return before.possible(changes) or self._scope.possible(changes)

    def _called(self, before: Scope, changes: list[Change], found: set[str]) -> set[str]:
        """What calls for a round, with what was found: changes, and where they do not tell, what they led to."""
        from nonstrict.check.watching import below

        # What came or went while a folder was not watched yet may not have been seen by the round.
        differing = before.differing(self._scope, changes)
        known = found | before.certain(changes) | self._scope.certain(changes) | below(differing, changes)
        return known or differing

    def _noticed(self) -> list[Change]:
        """What changed meanwhile."""
        if self._notices is None:
            return []
        changes = self._notices.wait()
        if self._states and time.monotonic() > self._due:
            from nonstrict.check.watching import Change, states_of

            now, before, self._states = states_of(self._scope), self._states, {}
            changes += [Change(path, content=True) for path, state in before.items() if now.get(path) != state]
        self._moved |= {change.path for change in changes if not change.content} & self._notices.folders
        return changes

    def _note_states(self) -> None:
        """Where changes are looked for by times that count seconds, look once more after a round with finer ones."""
        if self._notices is not None and self._notices.polling:
            from nonstrict.check.watching import states_of

            self._states, self._due = states_of(self._scope), time.monotonic() + _SECOND

    def _refresh(self, began: int) -> list[Change]:
        """Look what is to be watched now, and watch it; what changed since a time in folders that were not watched."""
        try:
            self._scope = self._looked()
            return self._watch(self._scope.folders, began)
        except (ConfigurationError, OSError) as error:
            # Where the working directory is gone, the next round tells it.
            if self._notices is None or not _is_gone():
                self._complain(str(error))
        except Exception as error:  # noqa: BLE001 - the boundary of watching: what was watched before still is
            self._complain(lost_to(error, "what is watched was not read again"))
        return []

    def _complain(self, message: str) -> None:
        """Say once what keeps changes from being seen."""
        if message != self._told_of:
            report_failure(message)
        self._told_of = message
        if self._notices is None:
            raise ConfigurationError(message)

    def _looked(self) -> Scope:
        from nonstrict.check.watching import scope_of

        options, depends, errors = self._options, self._options.held.depends, list[ConfigurationError]()
        try:
            self._settings = overridden(main_settings(options.paths, options), options)
        except ConfigurationError as error:
            # Said by the round. Until it is mended, the settings that were valid count, and what is wrong.
            errors.append(error)
        nested = self._nested.lenient if self._nested is not None else None
        scope = scope_of(options.paths, self._settings, nested, depends)
        errors += self._nested.errors.values() if self._nested is not None else ()
        wrong = [one.location.path for error in errors for one in error.diagnostics]
        if not wrong:
            return scope
        files = {file for path in wrong for file in configuration_files(os.path.abspath(path))}
        return scope_of(options.paths, self._settings, nested, depends._replace(files=depends.files | files))

    def _watch(self, folders: frozenset[str], began: int) -> list[Change]:
        from nonstrict.check.notices import Notices
        from nonstrict.check.watching import changed_since

        before = self._notices
        if before is not None and before.folders == folders and not self._moved:
            return []
        self._notices = notices = Notices(folders, before.polling if before is not None else "")
        if notices.polling and before is None and not self._face.for_people:
            report_failure(f"the folders are polled for changes: {notices.polling}.")
        if before is None:
            return []
        # A folder that was made anew is another one, whatever its name.
        fresh = (folders - before.folders) | (folders & self._moved)
        self._moved = set()
        # Both may have told: the round that follows knows it.
        changes = [*changed_since(began, self._scope, fresh), *before.wait(), *self._notices.wait()]
        before.close()
        return changes


def _is_gone() -> bool:
    """Whether the working directory was removed."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _is_unread(descriptor: int) -> bool:
    """Whether nobody will read what is written to a pipe."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))
