"""Experiments for the editor: one confirmer for each folder whose functions somebody confirms, and who hears of it."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from nonstrict.findings import UNEXPLAINED
from nonstrict.rules.expectation import Experiment
from nonstrict.rules.registry import RULES
from nonstrict_server.conversion import with_verdict
from nonstrict_server.interpreters import Interpreters
from nonstrict_server.protocol import RequestFailedError
from nonstrict_server.regions import reached_from, views

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.experiments import ConfirmOptions
    from nonstrict.check.live.confirming import Confirmer
    from nonstrict.check.showing import Showing
    from nonstrict.findings import Diagnostic
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source
    from nonstrict_server.interpreters import Interpreter
    from nonstrict_server.server import Server

_T = TypeVar("_T")
UNTRUSTED = "the workspace is not trusted, so nothing in it is run"
SWITCHED_OFF = "experiments are switched off: set `nonstrict.confirm.mode` to `onDemand`"


class Running(NamedTuple):
    """How far the experiments of a file are; of one `function`, if it is named."""

    done: int = 0
    total: int = 0
    function: str = ""


class _Task(NamedTuple):
    """What an experiment needs to know, as of one moment.

    `own` are the settings of the sub-project of its file; `beside` the findings the file has others.
    """

    root: str
    settings: Settings
    own: Settings
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]
    beside: bool


class Confirmers:
    """The confirmers of all folders. Used on the loop; what says so is for the thread of the analysis."""

    def __init__(self, server: Server) -> None:
        self._server = server
        #: by the roots of a folder of the workspace and of a sub-project in it
        self._by_root: dict[tuple[str, str], tuple[tuple[object, ...], Confirmer]] = {}
        self._interpreters = Interpreters(lambda: server.scheduler.tell(server.changed, None))
        self._quiet: set[str] = set()
        #: How many requests of a file have not ended: one that another supersedes ends after that one has begun.
        self._asked: Counter[str] = Counter()
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._turns: dict[str, asyncio.Lock] = {}
        self.running: dict[str, Running] = {}
        #: What the agent is doing, in words; empty if nothing.
        self.state = ""

    def of(self, root: str) -> list[Confirmer]:
        """The confirmers of a folder in which anything was ever confirmed."""
        return [confirmer for (folder, _), (_, confirmer) in list(self._by_root.items()) if folder == root]

    async def confirm(self, path: str, function: str = "", *, quiet: bool = False) -> int:
        """Start the experiments of a file, of a marked function, or of a region and the marked functions that it calls.

        Returns how many findings they are about. What goes wrong later is told in a message, or only written to the log
        if `quiet`.

        Raises:
            RequestFailedError: experiments are not allowed, or there is nothing to run.
        """
        self._allow(path)
        task = await self._server.scheduler.ask(lambda: self._task(path, function))
        self._start(path, function, task, quiet=quiet)
        return len(task.diagnostics)

    def _start(self, path: str, function: str, task: _Task, *, quiet: bool = False) -> Confirmer:
        """Start experiments; who does them."""
        confirmer = self._confirmer(path, task)
        (self._quiet.add if quiet else self._quiet.discard)(path)
        self._asked[path] += 1
        self._tell(path, Running(0, len(task.diagnostics), function))
        alone = all(one.function == function for one in task.diagnostics)
        confirmer.request(path, task.diagnostics, task.sources, function if alone else "", beside=task.beside)
        return confirmer

    async def tried(self, path: str, function: str) -> tuple[Diagnostic, ...]:
        """Try a function and wait: what an experiment can tell of it, or the question whether it computes the same.

        Each with its verdict, if there is one. All of the file is tried together, what has no findings by that
        question: what one function does wrong is not laid to another that the same program calls. Of several functions
        of a file one is tried after the other, the later ones by what is known then.

        Raises:
            RequestFailedError: experiments are not allowed.
        """
        self._allow(path)
        async with self._turns.setdefault(path, asyncio.Lock()):
            task = await self._server.scheduler.ask(lambda: self._task(path, ""))
            questions = await in_thread(lambda: _questions(task, path))
            confirmer = self._start(path, "", task._replace(diagnostics=(*task.diagnostics, *questions)))
            await self.settled(path)
        found = await self._server.scheduler.ask(lambda: reached_from(self._server.engine, path, function))
        told = tuple(one for one in found if can_be_tried(one))
        own = (one for one in questions if one.function == function)
        return told or tuple(with_verdict(one, confirmer.verdict(one)) for one in own)

    async def settled(self, path: str) -> None:
        """Wait until no experiments of a file are running."""
        while path in self.running:
            end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(path, []).append(end)
            await end

    def cancel(self, path: str | None = None) -> None:
        """Stop the experiments of a file, or all."""
        for _, confirmer in self._by_root.values():
            confirmer.cancel(path)
        for one in list(self.running) if path is None else [path]:
            self._tell(one, None)

    async def show(self, path: str, function: str, kind: str) -> Showing:
        """The graphs (`graph`) or the generated code (`code`) of a function.

        Raises:
            RequestFailedError: experiments are not allowed, or nothing can be shown.
        """
        from nonstrict.check.showing import ShowError

        self._allow(path)
        text = self._server.documents.text_of(path)
        task = await self._server.scheduler.ask(lambda: self._task(path, function))
        confirmer = self._confirmer(path, task)
        try:
            return await in_thread(lambda: confirmer.show(path, function, kind, text, task.sources))
        except ShowError as error:
            raise RequestFailedError(str(error)) from error

    async def write_repros(self, path: str, function: str, directory: str) -> list[str]:
        """Confirm, and write a script for each finding that comes true; the paths of the scripts.

        Raises:
            RequestFailedError: experiments are not allowed, or could not be done.
        """
        from nonstrict.check.live.confirming import Confirmer

        self._allow(path)
        task = await self._server.scheduler.ask(lambda: self._task(path, function))
        end = _End()
        confirmer = Confirmer(task.settings, self._options(path, directory), end, task.own)
        try:
            confirmer.request(path, task.diagnostics, task.sources, function)
            failures = await in_thread(end.failures)
            verdicts = [confirmer.verdict(one, task.sources) for one in task.diagnostics]
        finally:
            _ = in_thread(confirmer.close)
        written = [one.repro for one in verdicts if one is not None and one.repro]
        if failures and not written:
            raise RequestFailedError("; ".join(failures))
        return list(dict.fromkeys(written))

    def restart(self) -> None:
        """Start all agents anew."""
        self.running.clear()
        for _, confirmer in self._by_root.values():
            confirmer.restart()

    def close(self) -> None:
        """End all agents; no process is left."""
        while self._by_root:
            _, (_, confirmer) = self._by_root.popitem()
            confirmer.close()

    def hindrance(self, path: str) -> str:
        """Why no experiments are offered for a file, empty if they are; in the thread of the analysis."""
        forbidden = self.forbidden(path)
        if forbidden:
            return forbidden
        interpreter = self.interpreter_of(path)
        return interpreter.hindrance if interpreter is not None else ""

    def forbidden(self, path: str) -> str:
        """Why the user wants no experiments with a file, empty if they may be run."""
        if not self._server.trusted:
            return UNTRUSTED
        return SWITCHED_OFF if self._server.settings_of(path).confirm == "off" else ""

    def interpreter_of(self, path: str) -> Interpreter | None:
        """Where experiments with a file are run, as of a moment ago; in the thread of the analysis."""
        folder = self._server.engine.roots.folder_of(path)
        if folder is None:
            return None
        return self._interpreters.of(folder.projects.of(path), self._may_start_its_python)

    def device_of(self, root: str, path: str) -> str:
        """The device that experiments with a file run on, as far as it is known."""
        wanted = self._server.settings_of(path).device
        cuda = next((told for one in self.of(root) if (told := one.has_cuda) is not None), None)
        if wanted != "auto" or cuda is None:
            return wanted if wanted != "auto" else ""
        return "cuda" if cuda else "cpu"

    def _allow(self, path: str) -> None:
        forbidden = self.forbidden(path)
        if forbidden:
            raise RequestFailedError(forbidden)

    def _task(self, path: str, function: str) -> _Task:
        """Gather what is needed; in the thread of the analysis."""
        engine = self._server.engine
        folder = engine.roots.folder_of(path)
        if folder is None:
            raise RequestFailedError("the configuration of the folder is not valid")
        own = folder.projects.of(path)
        interpreter = self._interpreters.of(own, self._may_start_its_python, anew=True)
        if interpreter.hindrance:
            raise RequestFailedError(interpreter.hindrance)
        found = reached_from(engine, path, function)
        beside = bool(function) and not set(found).issuperset(reached_from(engine, path, ""))
        return _Task(folder.root, folder.settings, own, found, folder.opened(), beside)

    def _confirmer(self, path: str, task: _Task) -> Confirmer:
        """The confirmer of a folder, made anew if its interpreter or the user's settings are others."""
        from nonstrict.check.live.confirming import Confirmer

        mine = self._server.settings_of(path)
        python = task.own.python, task.own.python_by_user, self._may_start_its_python(task.own.root)
        state = (python, task.settings.root, task.settings.inputs, task.own.inputs, mine.device, mine.timeout)
        key = (task.root, task.own.root)
        known = self._by_root.get(key)
        if known is not None and known[0] == state:
            return known[1]
        if known is not None:
            _ = in_thread(known[1].close)
        listener = _Listener(self, self._server.scheduler.tell)
        confirmer = Confirmer(task.settings, self._options(path), listener, task.own)
        if confirmer.notice:
            self._server.complain(confirmer.notice)
        self._by_root[key] = (state, confirmer)
        return confirmer

    def _options(self, path: str, repro: str = "") -> ConfirmOptions:
        from nonstrict.check.experiments import ConfirmOptions

        mine = self._server.settings_of(path)
        trusted = self._may_start_its_python
        return ConfirmOptions(seconds=mine.timeout, device=mine.device, repro=repro, trusted=trusted)

    def _may_start_its_python(self, root: str) -> bool:
        """Whether experiments may start the interpreter that a folder brings."""
        from nonstrict.confirm.trust import is_trusted

        return self._server.is_vouched_for or is_trusted(root)

    # -- heard on the loop --------------------------------------------------------------------------------------------

    def heard_verdicts(self, path: str) -> None:
        """Some verdicts of a file are new."""
        self._server.scheduler.ask(lambda: self._reached(path)).add_done_callback(self._changed)

    def heard_progress(self, path: str, done: int, total: int) -> None:
        """Some experiments of a file are done."""
        before = self.running.get(path, Running())
        self._tell(path, before._replace(done=done, total=total))

    def heard_end(self, path: str, failures: tuple[str, ...]) -> None:
        """The experiments of a file have ended."""
        self._asked[path] -= 1
        if self._asked[path] <= 0:
            del self._asked[path]
            self.state = ""
            self._tell(path, None)
        tell = self._server.note if path in self._quiet else self._server.complain
        for failure in dict.fromkeys(failures):
            tell(failure)
        self.heard_verdicts(path)

    def heard_state(self, text: str) -> None:
        """The agent does something else now."""
        self.state = text
        self._tell_status()
        for path in self.running:
            self._tell(path, self.running[path])

    def _reached(self, path: str) -> frozenset[str]:
        """The files in which findings of the marked functions of a file are."""
        engine = self._server.engine
        found = (*engine.findings_of(path, ""), *(one for view in views(engine, path) for one in view.reached))
        return frozenset({path, *(one.location.path for one in found)})

    def _changed(self, reached: asyncio.Future[frozenset[str]]) -> None:
        if not reached.cancelled() and reached.exception() is None:
            self._server.changed(reached.result())

    def _tell_status(self) -> None:
        """Tell what the agent does to clients that show it (experimental capability `nonstrictStatus`)."""
        if self._server.abilities.hears_status:
            self._server.protocol.notify("nonstrict/status", {"text": self.state, "busy": bool(self.running)})

    def _tell(self, path: str, running: Running | None) -> None:
        was_busy = bool(self.running)
        if running is None:
            self.running.pop(path, None)
            for end in self._waiting.pop(path, ()):
                if not end.done():
                    end.set_result(None)
        else:
            self.running[path] = running
        if bool(self.running) != was_busy:
            self._tell_status()
        for listener in self._server.on_running:
            listener(path)


def can_be_tried(finding: Diagnostic) -> bool:
    """Whether an experiment can tell of a finding, which torch did not tell by itself."""
    rule = RULES.get(finding.code)
    return rule is not None and rule.experiment is not Experiment.NONE and not finding.observed


def _questions(task: _Task, path: str) -> tuple[Diagnostic, ...]:
    """Whether those functions of a file compute the same when they are compiled of which nothing else can be tried."""
    from nonstrict.check.run import RunOptions, check

    options = RunOptions(jobs=1, probes=True, fixes=None, overlays=task.sources)
    found = check([path], task.own, options).diagnostics
    others = {one.function for one in task.diagnostics if can_be_tried(one)}
    return tuple(one for one in found if one.code == UNEXPLAINED and one.function not in others)


class _Listener:
    """Hears of a confirmer in threads of its own, and passes it on to the loop."""

    def __init__(self, confirmers: Confirmers, tell: Callable[..., None]) -> None:
        self._confirmers = confirmers
        self._tell = tell

    def on_verdicts(self, path: str) -> None:
        self._tell(self._confirmers.heard_verdicts, path)

    def on_progress(self, path: str, done: int, total: int) -> None:
        self._tell(self._confirmers.heard_progress, path, done, total)

    def on_finished(self, path: str, failures: Sequence[str]) -> None:
        self._tell(self._confirmers.heard_end, path, tuple(failures))

    def on_state(self, text: str) -> None:
        self._tell(self._confirmers.heard_state, text)


class _End:
    """Waits for the end of one request."""

    def __init__(self) -> None:
        self._over = threading.Event()
        self._failures: tuple[str, ...] = ()

    def failures(self) -> tuple[str, ...]:
        """What went wrong, when all is over."""
        self._over.wait()
        return self._failures

    def on_verdicts(self, path: str) -> None:
        """The verdicts are looked at when all is over."""

    def on_progress(self, path: str, done: int, total: int) -> None:
        """Nobody asked how far it is."""

    def on_finished(self, path: str, failures: Sequence[str]) -> None:
        self._failures = tuple(failures)
        self._over.set()

    def on_state(self, text: str) -> None:
        """Nobody asked what the agent does."""


def in_thread(work: Callable[[], _T]) -> asyncio.Future[_T]:
    """Do something slow in a thread of its own, which does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[_T] = loop.create_future()

    def settle(result: _T | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except Exception as error:  # noqa: BLE001 - it belongs to who waits
            failure = error
        try:
            loop.call_soon_threadsafe(settle, result, failure)
        except RuntimeError:
            # The loop has ended, and with it everybody who waited.
            return

    threading.Thread(target=run, name="waiting", daemon=True).start()
    return future
