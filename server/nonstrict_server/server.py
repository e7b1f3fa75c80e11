"""The server: its parts put together, and what all features share."""

from __future__ import annotations

import gc
import logging
import os
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from lsprotocol import types as lsp
from pygls.exceptions import FeatureRequestError
from pygls.lsp.server import LanguageServer

from nonstrict import __version__
from nonstrict_server.capabilities import Abilities, abilities_of
from nonstrict_server.confirming import Confirmers
from nonstrict_server.documents import Documents, file_of
from nonstrict_server.features import ALWAYS
from nonstrict_server.lifetime import watch_client
from nonstrict_server.protocol import Protocol
from nonstrict_server.recording import Recorder
from nonstrict_server.scheduler import Scheduler
from nonstrict_server.settings import ClientSettings, client_settings, section_of
from nonstrict_server.tracing import set_level

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Hashable, Iterable

    from nonstrict.check.showing import Showing
    from nonstrict.findings import Diagnostic
    from nonstrict_server.engine import Engine
    from nonstrict_server.features.contents import Target
    from nonstrict_server.recording import Traced

_T = TypeVar("_T")
_log = logging.getLogger(__name__)
_NOTEBOOKS = lsp.NotebookDocumentSyncOptions(
    notebook_selector=[
        lsp.NotebookDocumentFilterWithCells(
            notebook=lsp.NotebookDocumentFilterNotebookType("jupyter-notebook"),
            cells=[lsp.NotebookCellLanguage("python")],
        ),
        lsp.NotebookDocumentFilterWithCells(
            notebook=lsp.NotebookDocumentFilterNotebookType("interactive"),
            cells=[lsp.NotebookCellLanguage("python")],
        ),
    ],
    save=True,
)


class Server(LanguageServer):
    """One server for one client."""

    protocol: Protocol  # pyright: ignore[reportIncompatibleVariableOverride] - it is made with no other
    documents: Documents
    scheduler: Scheduler
    abilities: Abilities
    engine: Engine
    confirmers: Confirmers
    recorder: Recorder
    initial_settings: ClientSettings
    #: Done when all marked files were examined once, or the user did not want to wait for that.
    first_pass: asyncio.Future[None]

    def __init__(self, *, trusted: bool | None = None) -> None:
        """Nothing is served yet.

        `trusted` is what the user said of the workspace: False keeps everything in it from being run, True allows its
        interpreter too; None leaves that to the user's list of trusted folders.
        """
        super().__init__(  # pyright: ignore[reportUnknownMemberType] - not described in full
            "nonstrict", __version__, notebook_document_sync=_NOTEBOOKS, protocol_cls=Protocol
        )
        self.trusted = trusted is not False
        self.is_vouched_for = trusted is True
        self.roots: list[str] = []
        self.root_uris: dict[str, str] = {}
        self.settings: dict[str, ClientSettings] = {}
        self._sent: dict[str, str] = {}
        self.status: int | None = None
        self.on_stop: Callable[[], None] = _nothing
        #: Graphs and code that were shown, with a digest of the text that they are of; the newest last.
        self.shown: dict[Target, tuple[str, Showing]] = {}
        #: Whether the client was asked to pull the diagnostics of closed files too; None before it was asked at all.
        self.pulled_workspace: bool | None = None
        #: The methods of features that the client was told of since it initialised, as the user wants them.
        self.switched_on: set[str] = set()
        #: Whether the user had the whole workspace checked: its findings are shown from then on.
        self.workspace_checked = False
        #: Called on the loop when the user opened, changed or closed a file.
        self.on_edited: list[Callable[[str], None]] = []
        #: Called on the loop when diagnostics of some files may be others for another reason (`None`: all of them).
        self.on_changed: list[Callable[[frozenset[str] | None], None]] = []
        self.on_misconfigured: Callable[[dict[str, list[Diagnostic]]], None] = _nothing
        self.on_worked: Callable[[int, int], None] = _nothing
        self.on_saved: list[Callable[[str], None]] = []
        #: Called on the loop when experiments of a file started, went on or ended.
        self.on_running: list[Callable[[str], None]] = []
        #: Called on the loop with what is run with recording, with None when it has ended.
        self.on_recording: list[Callable[[Traced | None], None]] = []
        self.feature(lsp.INITIALIZE)(initialize)
        self.feature(lsp.EXIT)(leave)
        for register in ALWAYS:
            register(self)

    # -- life ---------------------------------------------------------------------------------------------------------

    def begin(self, params: lsp.InitializeParams, loop: asyncio.AbstractEventLoop) -> None:
        """Get to know the client."""
        self.abilities = abilities_of(params.capabilities)
        self.protocol.tracing.value = params.trace or lsp.TraceValue.Off
        self.roots = self._roots(params)
        encoding = str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding))
        self.documents = Documents(encoding, self.roots[0] if self.roots else os.getcwd())
        self.initial_settings = client_settings(section_of(params.initialization_options), self.documents.home)
        self.settings = dict.fromkeys(("", *self.roots), self.initial_settings)
        set_level(self.initial_settings.log_level)
        self.first_pass = loop.create_future()
        self.confirmers = Confirmers(self)
        self.recorder = Recorder(self)
        self.scheduler = Scheduler(loop, self._background)
        self.scheduler.change("engine", partial(self._make_engine, dict(self.settings)))
        if params.process_id is not None:
            watch_client(params.process_id, partial(self.scheduler.tell, self.stop, 1))

    def stop(self, status: int) -> None:
        """End the server with an exit status, after what is being handled now."""
        if self.status is None:
            self.status = status
            self.on_stop()

    def close(self) -> None:
        """Leave nothing behind: no process of an experiment, no thread at work."""
        if hasattr(self, "scheduler"):
            self.recorder.close()
            self.confirmers.close()
            self.scheduler.close()

    def ask(self, work: Callable[[Engine], _T], is_outdated: Callable[[], bool] | None = None) -> asyncio.Future[_T]:
        """The answer of the analysis, as `Scheduler.ask`."""
        return self.scheduler.ask(lambda: work(self.engine), is_outdated)

    def change(self, key: Hashable, work: Callable[[Engine], None], *, typing: bool = False) -> None:
        """Change something in the analysis, as `Scheduler.change`."""
        self.scheduler.change(key, lambda: work(self.engine), typing=typing)

    # -- the analysis -------------------------------------------------------------------------------------------------

    def set_roots(self, roots: Iterable[str]) -> None:
        """The workspace has these folders now."""
        self.roots = list(dict.fromkeys(roots))
        roots = tuple(self.roots)
        self.change("roots", lambda engine: engine.set_roots(roots))

    def configure(self, settings: dict[str, ClientSettings]) -> None:
        """The user has these settings now; key "" is for files outside all folders."""
        before, self.settings = self.settings, settings
        set_level(settings[""].log_level or self.initial_settings.log_level)
        if before != settings:
            self.change("settings", lambda engine: engine.configure(settings))

    def settings_of(self, path: str) -> ClientSettings:
        """The user's settings for a file."""
        inside = [root for root in self.roots if path == root or path.startswith(root.rstrip(os.sep) + os.sep)]
        return self.settings.get(max(inside, key=len, default=""), self.settings[""])

    @property
    def shows_workspace(self) -> bool:
        """Whether findings of closed files are shown, at least of some folder."""
        return self.workspace_checked or any(one.whole_workspace for one in self.settings.values())

    def shows_closed(self, path: str) -> bool:
        """Whether findings of a file are shown while it is closed."""
        return self.workspace_checked or self.settings_of(path).whole_workspace

    def send_text(self, path: str, *, typing: bool = False) -> None:
        """Have the text of an open document analysed from now on."""
        text = self.documents.text_of(path)
        if text is not None:
            self._sent[path] = text
            self.change(("text", path), lambda engine: engine.set_text(path, text), typing=typing)

    def forget_text(self, path: str) -> None:
        """A document was closed: its file on the disk counts again."""
        self._sent.pop(path, None)
        self.change(("text", path), lambda engine: engine.forget_text(path))

    def is_analysed(self, path: str) -> bool:
        """Whether positions of the analysis are those of the editor: not between saves, if only these count."""
        return not self.documents.is_open(path) or self._sent.get(path) == self.documents.text_of(path)

    def edited(self, path: str) -> None:
        """The user opened, changed or closed a file."""
        for listener in self.on_edited:
            listener(path)

    def changed(self, paths: frozenset[str] | None) -> None:
        """Diagnostics of some files (`None`: all) may be others: tell whoever shows them."""
        for listener in self.on_changed:
            listener(paths)

    def _make_engine(self, settings: dict[str, ClientSettings]) -> None:
        from nonstrict_server.engine import Engine, Heard
        from nonstrict_server.reports import Reports
        from nonstrict_server.roots import Roots

        tell = self.scheduler.tell
        heard = Heard(
            changed=partial(tell, self.changed),
            misconfigured=partial(tell, self.on_misconfigured),
            worked=partial(tell, self.on_worked),
            settled=partial(tell, self._settle),
        )
        reports = Reports(self.documents, self.protocol.converter, related=self.abilities.related)
        self.engine = Engine(
            Roots(trusted=self.trusted, complain=partial(tell, self.complain)),
            reports,
            self.confirmers.of,
            heard,
            lambda: self.scheduler.is_waited_for,
        )
        self.engine.configure(settings)
        self.engine.set_roots(tuple(self.roots))
        # What libraries have made stays: looking for garbage in it would cost a keystroke tens of milliseconds.
        gc.freeze()

    def _settle(self) -> None:
        if not self.first_pass.done():
            self.first_pass.set_result(None)

    def _background(self) -> bool:
        return self.engine.step()

    def _roots(self, params: lsp.InitializeParams) -> list[str]:
        """The folders of the workspace; none if the client opened a single file."""
        uris = [folder.uri for folder in params.workspace_folders or ()]
        if not uris and params.root_uri:
            uris = [params.root_uri]
        for uri in uris:
            path = file_of(uri)
            if path:
                self.root_uris[path] = uri
        if not self.root_uris and params.root_path and not params.root_uri:
            return [os.path.normpath(params.root_path)]
        return list(self.root_uris)

    # -- the user -----------------------------------------------------------------------------------------------------

    def complain(self, text: str) -> None:
        """Say in the editor what keeps the server from doing its job."""
        self._show(text, lsp.MessageType.Warning)

    def inform(self, text: str) -> None:
        """Say in the editor what was done that a user asked for."""
        self._show(text, lsp.MessageType.Info)

    def note(self, text: str) -> None:
        """Write something to the log of the editor."""
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Info, text))

    def report_server_error(self, error: Exception, source: Any) -> None:
        """A mistake of ours, in one short line; the traceback is on standard error."""
        if source is FeatureRequestError:
            # The answer to the request says it.
            return
        text = " ".join(str(error).split())[:200]
        message = (
            f"internal error: {type(error).__name__}: {text}" if text else f"internal error: {type(error).__name__}"
        )
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"nonstrict: {message}"))

    def _show(self, text: str, kind: lsp.MessageType) -> None:
        if self.settings[""].show_messages:
            self.window_show_message(lsp.ShowMessageParams(kind, f"nonstrict: {text}"))
        else:
            self.window_log_message(lsp.LogMessageParams(kind, f"nonstrict: {text}"))


def initialize(ls: Server, params: lsp.InitializeParams) -> None:
    """Prepare the parts, and announce only what this client is to use."""
    import asyncio

    from nonstrict_server.features import code_actions, diagnostics, publishing, switched

    ls.begin(params, asyncio.get_running_loop())
    code_actions.announce(ls)
    switched.announce(ls)
    if ls.abilities.pulls:
        diagnostics.announce(ls)
    else:
        publishing.start(ls)
    if not ls.trusted:
        _log.info("the workspace is not trusted: nothing will be run")


def leave(ls: Server, params: None) -> None:
    """End the process: in order, if the client asked to shut down before."""
    ls.stop(0 if ls.protocol.is_shut_down else 1)


def _nothing(*_: object) -> None:
    """Nobody listens yet."""
