"""The files of one workspace folder as an editor sees them, kept analysed edit by edit.

Findings are those of marked files: what their marked functions do, in whatever file. An edit makes doubtful the
results of the files that read the edited one, and of those that asked a question whose answer it changed; these are
examined again, one at a time, by a machine of their own. What texts tell (syntax trees of unchanged definitions, which
file mentions what) is kept.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from nonstrict.check.analysis import AnalysisOptions, Marked, syntax_error
from nonstrict.check.diagnostics import Presenter
from nonstrict.check.environment import environments_of
from nonstrict.check.examination import Task, examined, examined_alone
from nonstrict.check.faults import is_faulty
from nonstrict.check.files import discover
from nonstrict.check.live.configuration import folder_settings, nested_settings
from nonstrict.check.live.fixing import Fixing, functions_of
from nonstrict.check.live.known import Known
from nonstrict.check.live.marked import MarkedFiles
from nonstrict.check.live.remembered import Remembered
from nonstrict.check.live.results import Mark, Result, Results, located, shown_marks
from nonstrict.check.live.scouts import Scouts
from nonstrict.check.live.texts import Text, differing_lines, entered, on_disk, opened
from nonstrict.check.live.units import again, seen
from nonstrict.check.registering import may_register
from nonstrict.check.shares import Share, merged
from nonstrict.check.stack import undisturbed
from nonstrict.knowledge.markers import may_mark
from nonstrict.program.discovery.exports import Exports
from nonstrict.program.discovery.registrations import Registered
from nonstrict.program.linking.imports import stem_of
from nonstrict.settings.projects import Projects

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from nonstrict.check.examination import Examined
    from nonstrict.coverage import Region
    from nonstrict.findings import Diagnostic, Finding, LocatedFix, Location
    from nonstrict.program.state.machine import Machine
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

#: Stale results with findings in a file that is asked for are examined at once, unless there are more.
_MAX_AT_ONCE = 8


class Folder:
    """One workspace folder. Not thread-safe: one thread uses it."""

    def __init__(
        self,
        root: str,
        overrides: Mapping[str, object] | None = None,
        *,
        trusted: bool = True,
        lenient: bool = False,
    ) -> None:
        """Read the configuration; no other file is read before `scan`.

        Args:
            root: absolute path of the folder.
            overrides: settings of the client by key, on top of those of configuration files.
            trusted: whether an interpreter that the configuration names may be looked at.
            lenient: have the defaults count where the configuration is not valid.

        Raises:
            ConfigurationError: the configuration is not valid.
        """
        self.root = root
        self._overrides = dict(overrides or {})
        self._trusted = trusted
        self._nested = nested_settings(self._overrides, trusted=trusted)
        self.settings: Settings = folder_settings(root, self._overrides, trusted=trusted, lenient=lenient)
        self._discovery = discover([root], self.settings, self._nested.lenient if lenient else self._nested.strict)
        self._texts: dict[str, Text] = {}
        self._open: set[str] = set()
        self._overlays: dict[str, Source] = {}
        self._results = Results()
        self._fixing = Fixing()
        self._scanned = False
        self._answered_early: set[str] = set()
        self._changed: set[str] = set()
        self._start()

    def reload(self, overrides: Mapping[str, object] | None = None) -> None:
        """Read the configuration again; `overrides` replaces that of the client.

        Raises:
            ConfigurationError: it is not valid; all stays as it was.
        """
        changed = dict(overrides) if overrides is not None else self._overrides
        settings = folder_settings(self.root, changed, trusted=self._trusted)
        nested = nested_settings(changed, trusted=self._trusted)
        self._discovery = discover([self.root], settings, nested.strict, self._open)
        self.settings, self._overrides, self._nested = settings, changed, nested
        self._start()

    # -- texts --------------------------------------------------------------------------------------------------------

    def set_text(self, path: str, text: str) -> None:
        """A document was opened or changed; of a notebook, the JSON of its file."""
        self._open.add(path)
        known = self._texts.get(path)
        if known is not None and known.shown.text == text:
            return
        made = opened(path, text, self._scouts.known(path))
        if made is not None:
            self._enter(path, made, overlaid=True)

    def forget_text(self, path: str) -> None:
        """A document was closed: its file counts again."""
        self._open.discard(path)
        self._overlays.pop(path, None)
        self._reread(path)

    @contextmanager
    def supposing(self, sources: Mapping[str, Source]) -> Generator[None]:
        """Have other texts of some files count for a while."""
        before = {path: (self._texts.get(path), path in self._overlays) for path in sources}
        for path, source in sources.items():
            self._enter(path, entered(source), overlaid=True)
        try:
            yield
        finally:
            for path, (text, overlaid) in before.items():
                if overlaid:
                    self._enter(path, text, overlaid=True)
                else:
                    self._overlays.pop(path, None)
                    self._reread(path)

    def touched(self, paths: Iterable[str]) -> None:
        """Files were created, changed or deleted on the disk."""
        closed = [path for path in dict.fromkeys(paths) if path not in self._open]
        others = [path for path in closed if not self._marked.covers(path) or not os.path.isfile(path)]
        self._fixing.forget()
        before = {*self._files}
        registering = any(self._may_register(path) for path in others)
        for path in others:
            # What was read of it before may be of another file.
            self._scouts.renew(path, None)
            self._texts.pop(path, None)
        if others:
            self._list_again(registering=registering)
        for path in closed:
            if path not in others:
                self._reread(path)
            elif path in before.intersection(self._files):
                self._enter(path, on_disk(path), overlaid=False)  # it came back before the folder was listed

    def source(self, path: str) -> Source | None:
        """The text of a file that findings count in; None if it cannot be read."""
        text = self._texts.get(path)
        if text is not None:
            return text.shown
        module = self._scouts.known(path)
        if module is not None:
            return module.source
        read = on_disk(path)
        return read.shown if read is not None else None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are checked, as far as the disk holds them."""
        return tuple(self._discovery.files)

    @property
    def projects(self) -> Projects:
        """The settings of the folder, and those of files of sub-projects, which have a configuration of their own."""
        return Projects(self.settings, self._discovery.nested)

    def opened(self) -> Mapping[str, Source]:
        """The open documents by path."""
        return {path: self._texts[path].shown for path in sorted(self._open) if path in self._texts}

    @property
    def is_scanned(self) -> bool:
        """Whether it is known which files hold markers."""
        return self._scanned

    # -- what is to be done -------------------------------------------------------------------------------------------

    def scan(
        self,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        """Find the files of the folder, and which of them hold markers; a cancelled scan is taken up by the next."""
        if self._scanned:
            return
        total = len(self._files)
        while self._looked_at < total:
            if cancelled():
                return
            path = self._files[self._looked_at]
            if progress is not None and self._looked_at % 100 == 0:
                progress(self._looked_at, total)
            self._marked.look_at(path, self._overlays.get(path))
            self._looked_at += 1
        self._marked.find_wrappers(self._scouts.main)
        self._scanned = True
        if progress is not None:
            progress(total, total)

    def pending(self) -> tuple[str, ...]:
        """The marked files whose findings are not known or out of date, open ones first."""
        open_ = [path for path in self._marked.paths() if not self._results.is_current(path)]
        return tuple(sorted(open_, key=lambda path: path not in self._open))

    def examine(self, path: str) -> frozenset[str]:
        """Examine a marked file; the files whose diagnostics that changes."""
        self.scan()
        changed = (
            self._results.put(path, self._result(path)) if self._marked.is_marked(path) else self._results.drop(path)
        )
        if path in self._answered_early:
            self._answered_early.discard(path)
            changed |= {path}
        self._changed |= changed
        if not self.pending() and self._remembered.settle() and not self._results.is_faulty():
            self._remember()
        return changed

    def changed(self) -> frozenset[str]:
        """The files whose diagnostics changed since this was last asked, by whatever was examined meanwhile."""
        found, self._changed = frozenset(self._changed), set()
        return found

    # -- answers ------------------------------------------------------------------------------------------------------

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of a file as it is now, without those that the baseline knows."""
        return self.known.new(path, self.found(path), self.source)

    def found(self, path: str) -> tuple[Diagnostic, ...]:
        """All diagnostics of a file as it is now, as far as its marked functions and those known to reach it go."""
        if not self._marked.covers(path):
            return ()
        remembered = self._remembered.of(path)
        if remembered is not None and not self._own_errors(path):
            return remembered
        if not self._scanned and path in self._open:
            # What other files have to do with it will be known after the scan, and told by `changed`.
            self._answered_early.add(path)
            return self._presented(path, self._by_itself(path) + self._own_errors(path))
        self._settle(path, self._results.found_in(path))
        return self._presented(path, self._results.findings_in(path) + self._own_errors(path))

    def fixes(self, path: str, wanted: Iterable[Diagnostic]) -> dict[tuple[str, Location], tuple[LocatedFix, ...]]:
        """The ways to mend some diagnostics of a file, by rule and place; for the texts as they are now."""
        self.scan()
        asked = functions_of(wanted)
        known = undisturbed(lambda: [one for marked in asked for one in self._mended(marked, asked[marked])])
        # As `findings_in` does: of what several marked files say of one place, the nearest counts.
        share = merged([Share([one for one in known if one.span.path == path], frozenset())])
        return {(one.code, one.location): one.fixes for one in self._presented(path, share.findings)}

    def _mended(self, marked: str, functions: Iterable[str]) -> list[Finding]:
        def look(names: frozenset[str]) -> tuple[Machine, Examined]:
            machine = self._scouts.anew(marked)
            return machine, examined(machine, self._task(marked), self._options, lambda body: body.function in names)

        return self._fixing.findings(marked, functions, look)

    def _settle(self, path: str, others: Iterable[str] = ()) -> None:
        """Examine a file if it is marked and out of date, and some of the others that are."""
        self.scan()
        if self._marked.is_marked(path) and not self._results.is_current(path):
            self.examine(path)
        for other in [other for other in sorted(others) if not self._results.is_current(other)][:_MAX_AT_ONCE]:
            self.examine(other)

    def _presented(self, path: str, findings: list[Finding]) -> tuple[Diagnostic, ...]:
        places = {span.path for one in findings for span in one.spans}
        places |= {edit.span.path for one in findings for fix in one.fixes for edit in fix.edits}
        sources = {place: source for place in {path, *places} if (source := self.source(place)) is not None}
        return self.presenter.of_file(path, findings, sources, settled=self._scanned and not self.pending())

    def related_to(self, path: str) -> frozenset[str]:
        """The files whose findings depend on a file."""
        self.scan()
        known = (self._results.get(marked) for marked in self._results.depending_on(path))
        return frozenset[str]().union(*(result.paths for result in known if result is not None))

    @property
    def marked_files(self) -> tuple[str, ...]:
        """The files that are known to hold markers."""
        return self._results.files

    def is_involved(self, path: str) -> bool:
        """Whether a file was read for something that is marked or compiled, there or elsewhere, as far as known now."""
        return bool(self._results.depending_on(path) or self._results.compiled_in(path))

    def marks(self, path: str) -> tuple[Mark, ...]:
        """The marked functions and compiled regions of a file."""
        self._settle(path)
        result, source = self._results.get(path), self.source(path)
        if result is None or source is None:
            return ()
        return tuple(located(mark, source) for mark in result.marks)

    def regions(self, path: str = "") -> tuple[Region, ...]:
        """What is compiled in the folder as far as it is known now; in or from a file, if one is named."""
        self._settle(path, self._results.compiled_in(path))
        return self._results.regions(path)

    def files_with_findings(self) -> tuple[str, ...]:
        """The files that may have diagnostics."""
        broken = {path for path, text in self._texts.items() if text.shown.problems}
        return tuple(sorted(self._results.paths() | broken | self._remembered.paths()))

    # -- how ----------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Begin anew with the files that there are; what their texts tell is kept where they are the same."""
        before: Scouts | None = getattr(self, "_scouts", None)
        self._fixing.forget()
        self._files = self._listed()
        environments = environments_of(self.projects)
        self._options = AnalysisOptions(environments, overlays=self._overlays, regions=True)
        self._scouts = Scouts(environments, self._files, self._overlays, before)
        self._marked = MarkedFiles(self._files)
        self.presenter = Presenter(self.settings, self._discovery.nested)
        self.known = Known(self.projects)
        self._remembered = Remembered(self._discovery, self.settings)
        self._results.outdate_all()
        self._scanned, self._looked_at = False, 0

    def _listed(self) -> list[str]:
        """The files that were found, and open documents that no file holds yet."""
        known = set(self._discovery.files)
        unsaved = [path for path in sorted(self._open) if path not in known and not os.path.exists(path)]
        return [*self._discovery.files, *unsaved]

    def _may_register(self, path: str) -> bool:
        """Whether a file that comes or goes registers something, as far as its text is known."""
        return not (code := self._code(path)) or may_register(code)

    def _list_again(self, *, registering: bool) -> None:
        """Files came or went: look which there are now, and only at those that are new."""
        self._discovery = discover([self.root], self.settings, self._nested.lenient, self._open)
        files = self._listed()
        came, went = set(files) - set(self._files), set(self._files) - set(files)
        if not self._scanned or any(os.path.basename(path) == "__init__.py" for path in came | went):
            # Which modules there are, and what they are called, may be another matter now.
            self._start()
            return
        if not came and not went:
            return
        self._files = files
        self._remembered.drop()
        self.presenter = Presenter(self.settings, self._discovery.nested)
        self.known = Known(self.projects)
        questions = self._scouts.replace_files(files, came | went)
        self._marked.replace_files(files)
        for path in sorted(came):
            self._marked.look_at(path, self._overlays.get(path))
        for path in sorted(went):
            self._changed |= self._results.drop(path)
        known = self._marked.exports.known()
        self._marked.find_wrappers(self._scouts.main)
        if registering or known != self._marked.exports.known():
            self._scouts.texts.part(Registered).mentions.clear()
            self._results.outdate_all()
        for path in came | went:
            self._results.outdate(path, questions)
        # An import that led nowhere may lead to a file that came, and the other way round.
        names = {stem_of(path) for path in came | went}
        data = self._scouts.texts.data
        for path in self._results.read():
            if any(name in data(path) for name in names):
                self._results.outdate_readers(path)

    def _reread(self, path: str) -> None:
        """The file on the disk counts, or what became of it."""
        text = on_disk(path)
        known = self.source(path)
        same = text is not None and known is not None and text.shown.code == known.code and not known.problems
        if not same or not self._marked.covers(path):
            self._enter(path, text, overlaid=text is not None and text.shown is not text.analysed)
        if path not in self._overlays:
            self._texts.pop(path, None)

    def _enter(self, path: str, text: Text | None, *, overlaid: bool) -> None:
        """A file has a new text, and some results become doubtful."""
        self._fixing.forget()
        if not self._marked.covers(path):
            if path not in self._open or os.path.exists(path):
                return
            self._list_again(registering=True)
        before = self._code(path)
        if text is None or before != text.analysed.code:
            self._remembered.drop()
        if text is None:
            self._texts.pop(path, None)
        else:
            self._texts[path] = text
        if text is not None and overlaid:
            self._overlays[path] = text.analysed
        code = text.analysed.code if text is not None else ""
        self._scouts.renew(path, text.analysed if text is not None else None, text.outline if text else None)
        changed = self._scouts.texts.renew(path)
        if any(map(may_register, differing_lines(before, code))):
            self._scouts.texts.part(Registered).mentions.clear()
            self._results.outdate_all()
        if self._scanned and self._marked.renew(path, code, self._scouts.main):
            self._results.outdate_all()
        self._results.outdate(path, changed)
        if not self._marked.is_marked(path):
            self._changed |= self._results.drop(path)

    def _remember(self) -> None:
        """Keep what was found for the next session; nothing was edited since the files were read."""
        found = [one for path in self.files_with_findings() for one in self.found(path)]
        self._remembered.keep(found, self._results, self._scouts.disk.answers)

    def _code(self, path: str) -> str:
        """What the analysis knows as the text of a file."""
        module = self._scouts.known(path)
        if module is not None:
            return module.source.code
        return self._scouts.texts.data(path).decode("utf-8", "replace")

    def _result(self, path: str) -> Result:
        """What a file yields now."""
        return undisturbed(lambda: self._edited(path) or self._whole(path))

    def _whole(self, path: str) -> Result:
        machine = self._scouts.anew(path)
        told = examined(machine, self._task(path), self._options)
        text = self._texts.get(path)
        share = merged([told.share, *map(self._earlier, text.earlier if text is not None else ())])
        module = self._scouts.known(path)
        # What nobody is about to edit need not be known mark by mark.
        simple = path in self._open and module is not None and not module.source.cells
        alone = simple and not is_faulty(told.share.findings)
        return Result(
            findings=tuple(share.findings),
            marks=shown_marks(path, (one.body for one in told.told)),
            read=share.read | {path},
            asked=machine.questions(),
            looked=share.looked,
            seen=seen(path, module.outline, told, machine) if module is not None and alone else None,
        )

    def _edited(self, path: str) -> Result | None:
        """What a file yields after an edit that concerns few of its marks; None if all are to be looked at."""
        known, module = self._results.get(path), self._scouts.known(path)
        if known is None or known.seen is None or module is None or not self._results.is_only_edited(path):
            return None
        others = (self._scouts.known(one) for one in known.read if self._marked.covers(one))
        edit = again(known.seen, module.outline, [other for other in others if other is not None])
        if edit is None:
            return None
        machine = self._scouts.anew(path)
        machine.concerns = edit.concerns
        told = examined(machine, self._task(path), self._options, edit.wanted)
        now = edit.result(told, machine) if not is_faulty(told.share.findings) else None
        if now is None:
            return None
        return Result(
            findings=tuple(now.findings()),
            marks=now.marks(),
            read=known.read | told.share.read,
            asked=known.asked | machine.questions(),
            looked=known.looked._replace(regions=now.regions()),
            seen=now,
        )

    def _by_itself(self, path: str) -> list[Finding]:
        """What the marked functions of a file yield as far as the files that it imports tell."""
        if not self._holds_markers(path):
            return []
        machine = self._scouts.alone(path)
        told = undisturbed(lambda: examined(machine, Task({path}, {path}, Exports()), self._options))
        return [finding for finding in told.share.findings if finding.span.path == path]

    def _task(self, path: str) -> Task:
        return Task({path}, self._marked.paths(), self._marked.exports)

    def _earlier(self, state: Source) -> Share:
        """What a notebook or page held before a cell defined something anew."""
        marked = Marked(state.path, len(state.code), may_wrap=False, source=state)
        return examined_alone(marked, self._options._replace(overlays={}))

    def _holds_markers(self, path: str) -> bool:
        return (source := self.source(path)) is not None and may_mark(source.code.encode("utf-8", "surrogatepass"))

    def _own_errors(self, path: str) -> list[Finding]:
        text = self._texts.get(path)
        problems = text.shown.problems if text is not None else ()
        return [*map(syntax_error, problems), *self._marked.faults_in(path)]
