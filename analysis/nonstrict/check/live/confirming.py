"""Experiments for editors: run in the background by agents that stay warm; the newest text wins."""

from __future__ import annotations

import logging
import threading
from collections import deque
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Protocol

from nonstrict.check.experiments import limits_of, processors
from nonstrict.check.live.rounds import Experimenter, Request, in_absolute_paths
from nonstrict.check.live.verdicts import Verdicts
from nonstrict.check.live.warm import AGENTS, AgentDied, Jobs, Kind, Over
from nonstrict.check.showing import ShowError, show_with, target_in
from nonstrict.check.venues import chosen_python
from nonstrict.confirm.client import AgentUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from nonstrict.check.experiments import ConfirmOptions
    from nonstrict.check.showing import Showing
    from nonstrict.confirm.client import State
    from nonstrict.findings import Diagnostic, Verdict
    from nonstrict.settings.model import Settings
    from nonstrict.text.source import Source

_LOG = logging.getLogger(__name__)
#: How long threads may take to notice that all is over (s).
_GRACE = 10.0


class Listener(Protocol):
    """Who hears of experiments: called by one thread of the `Confirmer`, never two calls at once."""

    def on_verdicts(self, path: str) -> None:
        """Some verdicts of a file are new."""

    def on_progress(self, path: str, done: int, total: int) -> None:
        """How many findings of a request are done, of how many."""

    def on_finished(self, path: str, failures: Sequence[str]) -> None:
        """A request is done, superseded or cancelled: told once for each, before anything of the next for the file."""

    def on_state(self, text: str) -> None:
        """What the agent does, for people: "Importing torch"."""


class Confirmer:
    """The experiments of one folder; folders with the same interpreter share one agent. Thread-safe.

    No method but `show` and `close` waits for anything.
    """

    def __init__(
        self, settings: Settings, options: ConfirmOptions, listener: Listener, own: Settings | None = None
    ) -> None:
        """Nothing is started before the first request.

        Of the options, `on_state` and `on_count` are not used: the listener hears of these. `own` are the settings of
        the sub-project that the experiments are with, which say in which interpreter.
        """
        own = own or settings
        chosen = chosen_python(own, options.trusted)
        settings = settings._replace(inputs=tuple(dict.fromkeys((*settings.inputs, *own.inputs))))
        python = chosen.path
        #: Why experiments are not run in the interpreter of the folder; empty if they are.
        self.notice = chosen.notice
        self._settings = settings
        self._options = options
        self._listener = listener
        self._slots = options.jobs or processors()
        self._teller = _Teller()
        self._kind = Kind(python, options.device, options.isolation, self._slots)
        self._agent = AGENTS.lend(self._kind, settings.root, self._hear)
        self._verdicts = Verdicts()
        self._experimenter = Experimenter(settings, options, python, self._agent, self._verdicts)
        self._changed = threading.Condition()
        self._queue: deque[Request] = deque()
        self._current: dict[str, Request] = {}
        self._opened: dict[str, Source] = {}
        self._threads: list[threading.Thread] = []
        self._workers = self._idle = 0
        self._closed = threading.Event()

    @property
    def has_cuda(self) -> bool | None:
        """Whether the agent has a GPU that torch can use; None while that is not known."""
        return self._agent.has_cuda

    def request(
        self,
        path: str,
        diagnostics: Sequence[Diagnostic],
        sources: Mapping[str, Source],
        function: str = "",
        *,
        beside: bool = False,
    ) -> None:
        """Queue the experiments for the findings of a file, or of one marked function in it.

        Where the file has other findings `beside` these, a difference that these do not explain may be theirs.

        `sources` are the texts of open documents, by path. What was asked for the same file before is given up.
        """
        opened = in_absolute_paths(sources)
        with self._changed:
            if self._closed.is_set():
                return
            self._opened = opened
            self._end(self._current.get(path))
            request = Request(
                path,
                tuple(diagnostics),
                opened,
                function,
                beside,
                on_verdicts=lambda of: self._tell(request, partial(self._listener.on_verdicts, of)),
                on_progress=lambda done, total: self._tell(
                    request, partial(self._listener.on_progress, path, done, total)
                ),
            )
            self._current[path] = request
            self._queue.append(request)
            if len(self._queue) > self._idle and self._workers < self._slots:
                self._workers += 1
                self._start(self._work)
            self._changed.notify()

    def cancel(self, path: str | None = None) -> None:
        """Give up what was asked for a file, or everything."""
        with self._changed:
            for request in [one for one in self._current.values() if path is None or one.path == path]:
                self._end(request)

    def verdict(self, diagnostic: Diagnostic, opened: Mapping[str, Source] | None = None) -> Verdict | None:
        """The newest verdict that holds for a finding and the text it was found in.

        `opened` are the texts of open documents by absolute path, as they are now; without it, as they were at the last
        request. Files that are not open are looked at on the disk.
        """
        return self._verdicts.get(diagnostic, self._opened if opened is None else opened)

    def earlier(self, diagnostics: Sequence[Diagnostic], opened: Mapping[str, Source]) -> dict[Diagnostic, Verdict]:
        """The stale verdicts among all findings of a file: of an earlier text, where none holds any more."""
        return self._verdicts.earlier(diagnostics, opened)

    def extra(self, path: str, opened: Mapping[str, Source] | None = None) -> tuple[Diagnostic, ...]:
        """The NST900 of a file that hold: no finding explains what compiled code does there.

        `opened`: see `verdict`.
        """
        return self._verdicts.strange(path, self._opened if opened is None else opened)

    def show(
        self, path: str, function: str, kind: str, text: str | None, opened: Mapping[str, Source] | None = None
    ) -> Showing:
        """The graphs (`kind` is "graph") or the code ("code") that torch makes of a function; takes its time.

        `text` is that of an open document, `opened` are the other open documents.

        Raises:
            ShowError: see `nonstrict.check.showing.show`; or there is no agent.
        """
        source = _source(path, text)
        target_in(source, function, self._settings)
        try:
            return self._shown(source, function, kind, self._verdicts.differing(in_absolute_paths(opened or {})))
        except AgentUnavailable as error:
            raise ShowError(f"nothing can be compiled: {error}") from error
        except Over as error:
            raise ShowError("nothing can be compiled: experiments were ended") from error

    def restart(self) -> None:
        """Give up everything, and start the agent anew; those who share it go on with the new one."""
        with self._changed:
            if self._closed.is_set():
                return
            self.cancel()
            self._start(self._restart)

    def close(self) -> None:
        """Give up everything, and leave no process behind if nobody else uses the agent; waits until they are gone."""
        with self._changed:
            if self._closed.is_set():
                return
            self._closed.set()
            self.cancel()
            threads = list(self._threads)
            self._changed.notify_all()
        AGENTS.give_back(self._kind, self._hear)
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(_GRACE)
        self._teller.close()

    def _start(self, work: Callable[[], None]) -> None:
        """Start a thread, which does not keep the process from ending. `_changed` is held."""
        thread = threading.Thread(target=work, name="nonstrict-confirm", daemon=True)
        self._threads = [*(one for one in self._threads if one.is_alive()), thread]
        thread.start()

    def _end(self, request: Request | None, failures: Sequence[str] = ()) -> None:
        """A request is over, however that came. `_changed` is held."""
        if request is None or request.over.is_set():
            return
        request.over.set()
        if self._current.get(request.path) is request:
            del self._current[request.path]
        if request in self._queue:
            self._queue.remove(request)
        self._teller.tell(partial(self._listener.on_finished, request.path, tuple(failures)))

    def _tell(self, request: Request, call: Callable[[], None]) -> None:
        with self._changed:
            if not request.over.is_set():
                self._teller.tell(call)

    def _hear(self, state: State) -> None:
        """Pass on what the agent does."""
        text = state.text
        if state.name == "ready":
            text = f"ready, torch {state.details.get('torch', '')}"
        if text and state.name != "closed":
            self._teller.tell(partial(self._listener.on_state, text[0].upper() + text[1:]))

    def _work(self) -> None:
        """Do requests until all is over; runs in threads of its own."""
        while (request := self._next()) is not None:
            failures: tuple[str, ...] = ()
            try:
                failures = self._experimenter.do(request)
            except Over:
                pass
            except Exception as error:  # noqa: BLE001 - one bad request is no reason to end the others
                _LOG.exception("experiments for %s", request.path)
                failures = (f"{request.path}: experiments failed: {error!r}",)
            with self._changed:
                self._end(request, failures)

    def _next(self) -> Request | None:
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._queue or self._closed.is_set())
            self._idle -= 1
            return None if self._closed.is_set() else self._queue.popleft()

    def _restart(self) -> None:
        try:
            self._agent.restart()
        except AgentUnavailable as error:
            self._teller.tell(partial(self._listener.on_state, str(error)))

    def _shown(self, source: Source, function: str, kind: str, overlays: Mapping[str, str]) -> Showing:
        """What is shown by the warm agent, or by another one if it dies."""
        is_over = self._closed.is_set
        died: AgentDied | None = None
        for _ in range(2):
            try:
                agent, ready = self._agent.ready(is_over, died.agent if died is not None else None)
                jobs = Jobs(agent, is_over)
                try:
                    limits = limits_of(self._options, ready)
                    return show_with(jobs, ready, limits, source, function, kind, self._settings, overlays)
                finally:
                    jobs.cancel()
            except AgentDied as error:
                died = error
        raise died or Over


class _Teller:
    """Calls the listener, one call after another, in a thread of its own: whoever has news is not held up by it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="nonstrict-tell", daemon=True)
        self._thread.start()

    def tell(self, call: Callable[[], None]) -> None:
        self._calls.put(call)

    def close(self) -> None:
        """Wait until everything was told, unless this is the thread that tells it."""
        self._calls.put(None)
        if self._thread is not threading.current_thread():
            self._thread.join(_GRACE)

    def _run(self) -> None:
        while (call := self._calls.get()) is not None:
            try:
                call()
            except Exception:  # noqa: BLE001 - what comes after it must be told as well
                _LOG.exception("a listener failed")


def _source(path: str, text: str | None) -> Source:
    """The source of a text, or of the file.

    Raises:
        ShowError: it cannot be read.
    """
    from nonstrict.text.source import UnreadableSource, read_source, source_from_text

    try:
        return read_source(path) if text is None else source_from_text(path, text)
    except UnreadableSource as error:
        raise ShowError(str(error)) from error
