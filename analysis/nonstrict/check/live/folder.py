"""The files of one workspace folder as an editor sees them, kept analysed edit by edit.

Findings are those of marked files: what their marked functions do, in whatever file. An edit makes doubtful the
results of the files that read the edited one, and of those that asked a question whose answer it changed; these are
examined again, one at a time, by a machine of their own. What texts tell (syntax trees of unchanged definitions, which
file mentions what) is kept.
"""

from __future__ import annotations

import gc
import os
import re
from typing import TYPE_CHECKING, Any

from nonstrict.check.analysis import AnalysisOptions, Marked, merged, torch_of
from nonstrict.check.diagnostics import Presenter
from nonstrict.check.environment import environment_of
from nonstrict.check.examination import Task, examine, examined
from nonstrict.check.files import discover
from nonstrict.check.live.configuration import folder_settings
from nonstrict.check.live.marked import MarkedFiles
from nonstrict.check.live.remembered import Remembered
from nonstrict.check.live.results import Mark, Result, Results, SeenMark, seen_mark
from nonstrict.check.live.texts import Text, differing_lines, on_disk, opened
from nonstrict.check.stack import with_deep_stack
from nonstrict.findings import Finding, Severity
from nonstrict.knowledge.markers import may_mark
from nonstrict.program.machine import Machine
from nonstrict.program.project import Project
from nonstrict.settings.load import settings_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from nonstrict.check.files import Discovery
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

#: What may register something for the whole program: that is not asked by name.
_REGISTERING = re.compile(r"register|impl|pytree|dataclass")
#: Stale results with findings in a file that is asked for are examined at once, unless there are more.
_MAX_AT_ONCE = 8


class Folder:
    """One workspace folder. Not thread-safe: one thread uses it."""

    def __init__(self, root: str, overrides: Mapping[str, object] | None = None, *, trusted: bool = True) -> None:
        """Read the configuration; no other file is read before `scan`.

        Args:
            root: absolute path of the folder.
            overrides: settings of the client by key, on top of those of configuration files.
            trusted: whether an interpreter that the configuration names may be looked at.

        Raises:
            ConfigurationError: the configuration is not valid.
        """
        self.root = root
        self._overrides = dict(overrides or {})
        self._trusted = trusted
        self.settings: Settings = folder_settings(root, self._overrides, trusted=trusted)
        self._texts: dict[str, Text] = {}
        self._open: set[str] = set()
        self._overlays: dict[str, Source] = {}
        self._results = Results()
        self._scanned = False
        self._changed: set[str] = set()
        self._start()

    def reload(self, overrides: Mapping[str, object] | None = None) -> None:
        """Read the configuration again; `overrides` replaces that of the client.

        Raises:
            ConfigurationError: it is not valid; all stays as it was.
        """
        changed = dict(overrides) if overrides is not None else self._overrides
        self.settings = folder_settings(self.root, changed, trusted=self._trusted)
        self._overrides = changed
        self._start()

    # -- texts --------------------------------------------------------------------------------------------------------

    def set_text(self, path: str, text: str) -> None:
        """A document was opened or changed; of a notebook, the JSON of its file."""
        self._open.add(path)
        known = self._texts.get(path)
        if known is not None and known.shown.text == text:
            return
        made = opened(path, text, self._scout.project.known(path))
        if made is not None:
            self._enter(path, made, overlaid=True)

    def forget_text(self, path: str) -> None:
        """A document was closed: its file counts again."""
        self._open.discard(path)
        self._overlays.pop(path, None)
        self._reread(path)

    def touched(self, paths: Iterable[str]) -> None:
        """Files were created, changed or deleted on the disk."""
        closed = [path for path in dict.fromkeys(paths) if path not in self._open]
        if any(not self._marked.covers(path) or not os.path.isfile(path) for path in closed):
            for path in closed:
                # What was read of it before may be of another file.
                self._scout.project.renew(path, None)
                self._texts.pop(path, None)
            self._start()
            return
        for path in closed:
            self._reread(path)

    def source(self, path: str) -> Source | None:
        """The text of a file that findings count in; None if it cannot be read."""
        text = self._texts.get(path)
        if text is not None:
            return text.shown
        module = self._scout.project.known(path)
        if module is not None:
            return module.source
        read = on_disk(path)
        return read.shown if read is not None else None

    def opened(self) -> Mapping[str, Source]:
        """The open documents by path."""
        return {path: self._texts[path].shown for path in sorted(self._open) if path in self._texts}

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
        for number, path in enumerate(self._files):
            if cancelled():
                return
            if progress is not None and number % 100 == 0:
                progress(number, total)
            self._marked.look_at(path, self._overlays.get(path))
        self._marked.find_wrappers(self._scout)
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
        self._changed |= changed
        if not self.pending() and self._remembered.settle():
            self._remember()
        return changed

    def changed(self) -> frozenset[str]:
        """The files whose diagnostics changed since this was last asked, by whatever was examined meanwhile."""
        found, self._changed = frozenset(self._changed), set()
        return found

    # -- answers ------------------------------------------------------------------------------------------------------

    def diagnostics(self, path: str) -> tuple[Diagnostic, ...]:
        """The diagnostics of a file as it is now, as far as its marked functions and those known to reach it go."""
        if not self._marked.covers(path):
            return ()
        remembered = self._remembered.of(path)
        if remembered is not None and not self._syntax_errors(path):
            return remembered
        if not self._scanned and not self._holds_markers(path):
            # Who reaches it will be known after the scan, and told by `changed`.
            return self._presented(path, self._syntax_errors(path))
        self.scan()
        if self._marked.is_marked(path) and not self._results.is_current(path):
            self.examine(path)
        doubtful = [other for other in sorted(self._results.found_in(path)) if not self._results.is_current(other)]
        for other in doubtful[:_MAX_AT_ONCE]:
            self.examine(other)
        return self._presented(path, self._results.findings_in(path) + self._syntax_errors(path))

    def _presented(self, path: str, findings: list[Finding]) -> tuple[Diagnostic, ...]:
        places = {span.path for one in findings for span in (one.span, *(related.span for related in one.related))}
        sources = {place: source for place in {path, *places} if (source := self.source(place)) is not None}
        return self._presenter.of_file(path, findings, sources, settled=self._scanned and not self.pending())

    def related_to(self, path: str) -> frozenset[str]:
        """The files whose findings depend on a file."""
        known = (self._results.get(marked) for marked in self._results.depending_on(path))
        return frozenset[str]().union(*(result.paths for result in known if result is not None))

    def marks(self, path: str) -> tuple[Mark, ...]:
        """The marked functions and compiled regions of a file."""
        self.scan()
        if self._marked.is_marked(path) and not self._results.is_current(path):
            self.examine(path)
        result, source = self._results.get(path), self.source(path)
        if result is None or source is None:
            return ()
        return tuple(_located(mark, source) for mark in result.marks)

    def files_with_findings(self) -> tuple[str, ...]:
        """The files that may have diagnostics."""
        broken = {path for path, text in self._texts.items() if text.shown.problems}
        return tuple(sorted(self._results.paths() | broken | self._remembered.paths()))

    # -- how ----------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Begin anew with the files that there are; what their texts tell is kept where they are the same."""
        before: Machine | None = getattr(self, "_scout", None)
        self._discovery: Discovery = discover([self.root], self.settings, settings_in)
        environment = environment_of(self.settings)
        known = set(self._discovery.files)
        unsaved = [path for path in sorted(self._open) if path not in known and not os.path.exists(path)]
        self._files = [*self._discovery.files, *unsaved]
        self._options = AnalysisOptions(
            torch_version=environment.torch_version, site_packages=environment.site_packages, overlays=self._overlays
        )
        project = Project(environment.site_packages, self._overlays)
        if before is not None:
            project.inherit(before.project)
        self._scout = Machine(project, self._files, torch_of(environment.torch_version))
        self._marked = MarkedFiles(self._files)
        self._presenter = Presenter(self.settings, self._discovery.nested)
        self._remembered = Remembered(self._discovery, self.settings)
        self._results.outdate_all()
        self._scanned = False

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
        if not self._marked.covers(path):
            if path not in self._open or os.path.exists(path):
                return
            self._start()
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
        self._scout.project.renew(path, text.analysed if text is not None else None, text.outline if text else None)
        changed = self._scout.elsewhere.found.renew(path)
        if _registers_otherwise(before, code):
            self._scout.elsewhere.found.fakes = None
            self._results.outdate_all()
        if self._scanned and self._marked.renew(path, code, self._scout):
            self._results.outdate_all()
        self._results.outdate(path, changed)
        if not self._marked.is_marked(path):
            self._changed |= self._results.drop(path)

    def _remember(self) -> None:
        """Keep what was found for the next session; nothing was edited since the files were read."""
        found = [one for path in self.files_with_findings() for one in self.diagnostics(path)]
        self._remembered.keep(found, self._results.failures(), self._results.read())

    def _code(self, path: str) -> str:
        """What the analysis knows as the text of a file."""
        module = self._scout.project.known(path)
        return (
            module.source.code
            if module is not None
            else self._scout.elsewhere.found.data(path).decode("utf-8", "replace")
        )

    def _result(self, path: str) -> Result:
        """What a file yields now."""
        task = Task({path}, self._marked.paths(), self._marked.names)
        collecting = gc.isenabled()
        gc.disable()
        try:
            machine = self._scout.anew()
            told = with_deep_stack(lambda: examined(machine, task, self._options))
            share = merged([told.share, *(self._earlier(state) for state in self._states(path))])
        finally:
            if collecting:
                gc.enable()
        return Result(
            findings=tuple(share.findings),
            marks=tuple(dict.fromkeys(seen_mark(body) for body in told.bodies if body.mark.path == path)),
            failures=tuple(f"{where}: {reason}" for where, reason in share.failures),
            read=share.read | {path},
            asked=machine.elsewhere.asked(),
        )

    def _states(self, path: str) -> tuple[Source, ...]:
        text = self._texts.get(path)
        return text.earlier if text is not None else ()

    def _earlier(self, state: Source) -> Any:
        """What a notebook or page held before a cell defined something anew."""
        marked = [Marked(state.path, len(state.code), may_wrap=False, source=state)]
        return examine([state.path], marked, [(0, marked)], self._options._replace(overlays={}))

    def _holds_markers(self, path: str) -> bool:
        source = self.source(path)
        return source is not None and may_mark(source.code.encode("utf-8", "surrogatepass"))

    def _syntax_errors(self, path: str) -> list[Finding]:
        text = self._texts.get(path)
        problems = text.shown.problems if text is not None else ()
        return [Finding("NST901", Severity.ERROR, problem.span, problem.message) for problem in problems]


def _registers_otherwise(before: str, code: str) -> bool:
    """Whether the lines that differ may register something."""
    old, new = differing_lines(before, code)
    return _REGISTERING.search(old) is not None or _REGISTERING.search(new) is not None


def _located(mark: SeenMark, source: Source) -> Mark:
    definition = source.locate(mark.definition) if mark.definition is not None else None
    return Mark(mark.function, mark.kind, mark.api, source.locate(mark.span), definition)
