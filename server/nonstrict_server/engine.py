"""What the features ask of the analysis. Everything here runs in the thread of the scheduler."""

from __future__ import annotations

import logging
import os
import time
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from nonstrict.check.live.sightings import Sightings, is_run
from nonstrict.check.live.verdicts import reached_by, ways_of
from nonstrict.findings import SYNTAX_ERROR
from nonstrict_server.conversion import with_verdict
from nonstrict_server.memory import LARGE, give_back
from nonstrict_server.reports import EMPTY, Report, Reports
from nonstrict_server.scheduler import SupersededError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.check.baseline import Baseline
    from nonstrict.check.live.confirming import Confirmer
    from nonstrict.check.live.fixed import Choose
    from nonstrict.check.live.folder import Folder
    from nonstrict.check.live.results import Mark
    from nonstrict.coverage import Region
    from nonstrict.findings import Diagnostic, LocatedEdit, Measured, Verdict
    from nonstrict.text.source import Source
    from nonstrict_server.roots import Roots
    from nonstrict_server.settings import ClientSettings


_log = logging.getLogger(__name__)


class Heard(NamedTuple):
    """Who is told what happened; called in the thread of the analysis.

    `changed` gets the files whose diagnostics may be others now, `misconfigured` the files of configuration with what
    is wrong in them, `worked` how many files are done, of how many, in the background (0 of 0: all are).
    `settled` is called when there is nothing left to do.
    """

    changed: Callable[[frozenset[str]], None]
    misconfigured: Callable[[dict[str, list[Diagnostic]]], None]
    worked: Callable[[int, int], None]
    settled: Callable[[], None]


class Judged(NamedTuple):
    """A finding with its verdict, which is `stale` if it was one of an earlier text."""

    finding: Diagnostic
    verdict: Verdict
    stale: bool


class Engine:
    """The folders of a workspace, what is known of them, and what is still to be done."""

    def __init__(
        self,
        roots: Roots,
        reports: Reports,
        confirmers_of: Callable[[str], Sequence[Confirmer]],
        heard: Heard,
        waited_for: Callable[[], bool],
    ) -> None:
        self.roots = roots
        self._reports = reports
        self._confirmers_of = confirmers_of
        self._heard = heard
        self._waited_for = waited_for
        self._runs: WeakKeyDictionary[Folder, Sightings] = WeakKeyDictionary()
        self._mistaken: dict[str, list[Diagnostic]] = {}
        self._given: dict[tuple[str, int | None], str] = {}
        self._doubtful: set[tuple[str, int | None]] = set()
        self._gave_up: set[str] = set()
        self._done = 0
        self._working = False
        self._paused = False
        self._unsettled = True
        #: Whether a large text has gone, and what was known of it with it.
        self._outgrown = False

    # -- changes ------------------------------------------------------------------------------------------------------

    def set_roots(self, roots: Sequence[str]) -> None:
        """The workspace has these folders now."""
        self.roots.set_roots(roots)
        for folder in self.roots.folders():
            _log.info("%s: settings of %s", folder.root, folder.settings.source or "no file")
        self._configured()

    def configure(self, settings: dict[str, ClientSettings]) -> None:
        """The client has these settings now, by folder."""
        self.roots.configure(settings)
        self._configured()

    def set_text(self, path: str, text: str) -> None:
        """A document was opened or changed."""
        self._outgrown = self._outgrown or len(self.roots.text_of(path)) - len(text) > LARGE
        self.roots.set_text(path, text)
        self._gave_up.clear()
        self._doubtful.update(key for key in self._given if key[0] != path)
        self._paused = False

    def forget_text(self, path: str) -> None:
        """A document was closed."""
        self._outgrown = self._outgrown or len(self.roots.text_of(path)) > LARGE
        self.roots.forget_text(path)
        self._gave_up.clear()
        for key in [key for key in self._given if key[0] == path]:
            del self._given[key]
        self._reports.forget(path)
        self._doubtful.update(self._given)

    def touched(self, paths: Sequence[str], configuration: Sequence[str]) -> None:
        """Files, and files of configuration, were created, changed or deleted on the disk."""
        self._gave_up.clear()
        self._doubtful.update(self._given)
        configuration = (*configuration, *filter(self.roots.holds_settings, paths))
        if configuration:
            self.roots.reload(configuration)
        for folder in self.roots.folders():
            below = folder.root.rstrip(os.sep) + os.sep
            inside = [path for path in paths if path.startswith(below) and not is_run(path)]
            if inside:
                folder.touched(inside)
        if configuration:
            self._configured()

    def saved(self, path: str) -> None:
        """A document was saved, on which settings may depend."""
        if self.roots.holds_settings(path):
            self.touched((), (path,))

    def restart(self) -> None:
        """Read everything again."""
        self.roots.reload_all()
        self._configured()

    def pause(self) -> None:
        """The user does not want the rest to be examined until something changes."""
        self._paused = True

    def _configured(self) -> None:
        self._unsettled = True
        self._gave_up.clear()
        self._paused = False
        mistakes = self.roots.mistakes()
        if mistakes != self._mistaken:
            cleared: dict[str, list[Diagnostic]] = {path: [] for path in self._mistaken if path not in mistakes}
            self._mistaken = mistakes
            self._heard.misconfigured({**mistakes, **cleared})
        self._heard.changed(frozenset(path for path, _ in self._given))

    # -- answers ------------------------------------------------------------------------------------------------------

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of a file, with the verdicts that hold."""
        folder = self.roots.folder_of(path)
        mine = self.roots.settings_of(path)
        if folder is None or not mine.enable:
            return ()
        found = folder.diagnostics(path)
        if not mine.syntax_errors:
            found = tuple(one for one in found if one.code != SYNTAX_ERROR)
        return self._sightings(folder).told(path, self._judged(folder, path, found))

    def verdicts(self, path: str) -> tuple[Judged, ...]:
        """What experiments said of the findings of a file: what holds, and what did of an earlier text."""
        found = self.diagnostics(path)
        folder = self.roots.folder_of(path)
        if not found or folder is None:
            return ()
        stale: dict[Diagnostic, Verdict] = {}
        for confirmer in self._confirmers_of(folder.root):
            stale = confirmer.earlier(found, folder.opened()) | stale
        told = ((one, one.verdict or stale.get(one)) for one in found)
        return tuple(Judged(one, verdict, one.verdict is None) for one, verdict in told if verdict is not None)

    def _judged(self, folder: Folder, path: str, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
        """The diagnostics of a file with verdicts, and what experiments showed beside them."""
        confirmers = self._confirmers_of(folder.root)
        if not confirmers:
            return found
        opened = folder.opened()
        # A function of one sub-project may have findings in another.
        told = {one: next(filter(None, (each.verdict(one, opened) for each in confirmers)), None) for one in found}
        known = tuple(with_verdict(one, told[one]) for one in found)
        strange = tuple(one for each in confirmers for one in each.extra(path, opened))  # noqa: S610 - no Django here
        # Another function's finding may name what was observed in this one.
        named = {one.location.row for one in known if one.location.cell is None}
        strange = tuple(one for one in strange if not one.observed or one.location.row not in named)
        return known + folder.known.new(path, strange, folder.source)

    def _sightings(self, folder: Folder) -> Sightings:
        """What real runs did in a folder."""
        return self._runs.setdefault(folder, Sightings(folder))

    def ran(self, region: Region) -> tuple[float, Measured] | None:
        """When a real run compiled a region as it is now last, and what came of it; None if none did."""
        folder = self.roots.folder_of(region.defined.path) if region.defined is not None else None
        if region.defined is None or folder is None:
            return None
        return self._sightings(folder).ran(region.defined.path, region.function)

    def with_fixes(
        self, path: str, diagnostics: Sequence[Diagnostic], is_outdated: Callable[[], bool]
    ) -> list[Diagnostic]:
        """Some diagnostics of a file with the ways to mend them, which any file of its folder may have a say in.

        Raises:
            SupersededError: `is_outdated` was true before these were known.
        """
        folder = self.roots.folder_of(path)
        if folder is None:
            return list(diagnostics)
        folder.scan(cancelled=is_outdated)
        if not folder.is_scanned:
            raise SupersededError
        try:
            known = folder.fixes(path, diagnostics)
        except Exception:  # noqa: BLE001 - what a fix trips over must not keep a finding from being suppressed
            _log.exception("the fixes could not be made")
            known = {}
        return [one._replace(fixes=known.get((one.code, one.location), one.fixes)) for one in diagnostics]

    def fixed(self, path: str, choose: Choose, checkpoint: Callable[[], None]) -> tuple[LocatedEdit, ...]:
        """The edits after which nothing that is chosen is left in a file; see `nonstrict.check.live.fixed`."""
        folder = self.roots.folder_of(path)
        if folder is None or not self.roots.settings_of(path).enable or not folder.diagnostics(path):
            return ()
        from nonstrict.check.live.fixed import fixed

        try:
            return fixed(folder, path, self.roots.texts(), choose, checkpoint)
        except SupersededError:
            raise
        except Exception:  # noqa: BLE001 - a mistake of ours in one fix must not be told with every save
            _log.exception("%s cannot be fixed", path)
            return ()

    def report(self, path: str, cell: int | None) -> Report:
        """The diagnostics of a file, or of a cell of a notebook, for the client."""
        found: Iterable[Diagnostic] = (*self.roots.mistakes_in_model(path), *self.diagnostics(path))
        if cell is not None:
            found = [one for one in found if one.location.cell == cell]
        folder = self.roots.folder_of(path)
        report = self._reports.of(path, cell, tuple(found), folder.source) if folder is not None else EMPTY
        self._given[path, cell] = report.identity
        return report

    def is_stale(self, path: str, cell: int | None) -> bool:
        """Whether the client was given other diagnostics of a document than there are now."""
        before = self._given.get((path, cell))
        if before is None:
            return False
        stale = self.report(path, cell).identity != before
        self._given[path, cell] = before
        return stale

    def files_with_findings(self) -> list[str]:
        """The files of the workspace that have diagnostics."""
        return sorted({path for folder in self.roots.folders() for path in folder.files_with_findings()})

    def source(self, path: str) -> Source | None:
        """The text of a file as it was analysed."""
        folder = self.roots.folder_of(path)
        return folder.source(path) if folder is not None else None

    def marks(self, path: str) -> tuple[Mark, ...]:
        """The marked functions of a file."""
        folder = self.roots.folder_of(path)
        return folder.marks(path) if folder is not None and self.roots.settings_of(path).enable else ()

    def marked_files(self) -> list[str]:
        """The files of the workspace that are known to hold markers."""
        return sorted(path for folder in self.roots.folders() for path in folder.marked_files)

    def is_involved(self, path: str) -> bool:
        """Whether a file has to do with something that is marked or compiled."""
        folder = self.roots.folder_of(path)
        return folder is not None and self.roots.settings_of(path).enable and folder.is_involved(path)

    def regions(self, path: str = "") -> tuple[Region, ...]:
        """What is compiled in or from a file, or in all folders, as far as it is known now."""
        folder = self.roots.folder_of(path) if path else None
        folders = self.roots.folders() if not path else [folder] if folder is not None else []
        found = (region for one in folders for region in one.regions(path))
        return tuple(region for region in found if self.roots.settings_of(region.span.path).enable)

    def findings_of(self, path: str, function: str) -> tuple[Diagnostic, ...]:
        """What is found in the bodies of the marked functions of a file (of one, if it is named), wherever it is."""
        folder = self.roots.folder_of(path)
        if folder is None:
            return ()
        others = folder.related_to(path) & set(folder.files_with_findings()) - {path}
        found = [*self.diagnostics(path), *(one for other in sorted(others) for one in self.diagnostics(other))]
        return tuple(one for one in found if reached_by(one, {path}, function) or _lies_in(one, path, function))

    # -- the baseline -------------------------------------------------------------------------------------------------

    def examine_one(self, root: str) -> int:
        """Examine one more file of a folder; how many are left."""
        folder = self.roots.folder_at(root)
        if folder is None:
            return 0
        folder.scan()
        pending = [path for path in folder.pending() if path not in self._gave_up]
        if pending:
            self._examine(folder, pending[0], len(pending))
        return max(len(pending) - 1, 0)

    def write_baselines(self, root: str) -> list[Baseline]:
        """Write baselines of all that is found in a folder, whose files were examined; none if there is no folder.

        Raises:
            ConfigurationError: there is a file in the place of one that is not a baseline.
            OSError: one cannot be written.
        """
        folder = self.roots.folder_at(root)
        if folder is None:
            return []
        from nonstrict.check.live.known import write_baselines

        opened = folder.opened()
        strange: list[Diagnostic] = []
        for confirmer in self._confirmers_of(root):
            for path in folder.files:
                strange += confirmer.extra(path, opened)  # noqa: S610 - no Django here
        made = write_baselines(folder, strange)
        self._doubtful.update(self._given)
        return made

    # -- background ---------------------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Do one piece of work that nobody asked for yet; whether there may be more."""
        if self._paused:
            self._heard.settled()
            return False
        for folder in self.roots.folders():
            folder.scan(self._work, self._waited_for)
            if not folder.is_scanned:
                return True
            pending = [path for path in folder.pending() if path not in self._gave_up]
            if pending:
                self._examine(folder, pending[0], len(pending))
                return True
        if self._doubtful:
            key = self._doubtful.pop()
            if self.is_stale(*key):
                self._heard.changed(frozenset({key[0]}))
            return True
        if self._unsettled:
            # Which suppressions are idle is told only when nothing is left to examine.
            self._unsettled = False
            self._doubtful.update(self._given)
            return True
        if self._working:
            self._working, self._done = False, 0
            self._heard.worked(0, 0)
        if self._outgrown:
            self._outgrown = False
            give_back()
        self._heard.settled()
        return False

    def _work(self, done: int, total: int) -> None:
        self._working = True
        self._heard.worked(done, total)

    def _examine(self, folder: Folder, path: str, left: int) -> None:
        self._unsettled = True
        self._work(self._done, self._done + left)
        self._done += 1
        begin = time.perf_counter()
        changed: frozenset[str] = frozenset()
        try:
            changed = folder.examine(path)
            _log.debug("examined %s in %d ms", path, round((time.perf_counter() - begin) * 1000))
        except Exception:  # noqa: BLE001 - a mistake of ours in one file must not keep the others waiting
            _log.exception("%s cannot be examined", path)
        finally:
            # What fails, or is never settled, is not tried again before something changes.
            if path in folder.pending():
                self._gave_up.add(path)
        if changed:
            self._heard.changed(changed)


def _lies_in(diagnostic: Diagnostic, path: str, function: str) -> bool:
    """Whether a finding of a function, or of any, is in a file."""
    names = {name for name, _ in ways_of(diagnostic)} - {""}
    return diagnostic.location.path == path and (function in names or (not function and bool(names)))
