"""An editor: a language client of pytest-lsp with documents, which it changes as users do."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urlparse

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.protocol import default_converter
from pytest_lsp import LanguageClient
from pytest_lsp.client import register_lsp_features

from tests.server.oracle import Shown
from tests.server.raw_client import MODIFIED, SUPERSEDED
from tests.server.units import applied, change_between, position_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cattrs import Converter

    from tests.server.protocol.profiles import Profile

#: Seconds after which something does not come any more.
LIMIT = 30


class Document(NamedTuple):
    """An open document, as the editor shows it."""

    text: str
    version: int


class EditorClient(LanguageClient):
    """Remembers what the server asks for besides what pytest-lsp remembers."""

    def __init__(self) -> None:
        super().__init__(converter_factory=_converter)
        register_lsp_features(self)
        self.registered: dict[str, list[Any]] = {}
        self.refreshed: dict[str, int] = {}
        self.edits: list[types.ApplyWorkspaceEditParams] = []
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(_register)
        self.feature(types.CLIENT_UNREGISTER_CAPABILITY)(_unregister)
        self.feature(types.WORKSPACE_APPLY_EDIT)(_apply_edit)
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(_refresh_lenses)
        self.feature(types.WORKSPACE_INLAY_HINT_REFRESH)(_refresh_hints)
        self.feature(types.WORKSPACE_SEMANTIC_TOKENS_REFRESH)(_refresh_tokens)
        self.feature("nonstrict/verdictsChanged")(_refresh_verdicts)
        self._listening: asyncio.Task[bytes] | None = None

    def listen(self, server: asyncio.subprocess.Process) -> None:
        """Collect what the server writes to standard error from now on."""
        assert server.stderr
        self._listening = asyncio.create_task(server.stderr.read())

    async def complaints(self) -> str:
        """What the server, which has ended, wrote to standard error."""
        assert self._listening
        said = (await asyncio.wait_for(self._listening, 10)).decode(errors="replace")
        sys.stderr.write(said)
        return said


def _converter() -> Converter:
    """lsprotocol takes an action that has a command for that command: only a command names it by a text."""

    def structured(value: Any, _: object) -> types.Command | types.CodeAction:
        is_command = isinstance(value.get("command"), str)
        return converter.structure(value, types.Command if is_command else types.CodeAction)

    converter = default_converter()
    converter.register_structure_hook(types.Command | types.CodeAction, structured)
    return converter


def _register(client: EditorClient, params: types.RegistrationParams) -> None:
    for registration in params.registrations:
        client.registered.setdefault(registration.method, []).append(registration)


def _unregister(client: EditorClient, params: types.UnregistrationParams) -> None:
    for gone in params.unregisterations:
        kept = client.registered.get(gone.method, [])
        client.registered[gone.method] = [registration for registration in kept if registration.id != gone.id]


def _apply_edit(client: EditorClient, params: types.ApplyWorkspaceEditParams) -> types.ApplyWorkspaceEditResult:
    client.edits.append(params)
    return types.ApplyWorkspaceEditResult(applied=True)


def _refresh_lenses(client: EditorClient, _: None) -> None:
    client.refreshed["lenses"] = client.refreshed.get("lenses", 0) + 1


def _refresh_hints(client: EditorClient, _: None) -> None:
    client.refreshed["hints"] = client.refreshed.get("hints", 0) + 1


def _refresh_tokens(client: EditorClient, _: None) -> None:
    client.refreshed["tokens"] = client.refreshed.get("tokens", 0) + 1


def _refresh_verdicts(client: EditorClient, _: object) -> None:
    client.refreshed["verdicts"] = client.refreshed.get("verdicts", 0) + 1


def path_of(uri: str) -> Path:
    """The file that a URI names."""
    return Path(unquote(urlparse(uri).path))


class Editor:
    """What a user does in an editor, and what the editor then shows."""

    def __init__(self, client: EditorClient, profile: Profile) -> None:
        self.client = client
        self.profile = profile
        self.documents: dict[str, Document] = {}
        self.capabilities = types.ServerCapabilities()
        self.begun = False

    @property
    def encoding(self) -> str:
        """How columns are counted, as agreed with the server."""
        agreed = self.capabilities.position_encoding
        return str(agreed.value if isinstance(agreed, types.PositionEncodingKind) else agreed or "utf-16")

    async def start(self, roots: Sequence[Path], settings: Mapping[str, Any] | None = None) -> None:
        """Begin a session on folders, with the settings of the section `nonstrict`."""
        self.client.set_configuration(dict(settings or {}), section="nonstrict")
        folders = [types.WorkspaceFolder(root.as_uri(), root.name) for root in roots]
        result = await self.client.initialize_session(
            types.InitializeParams(
                capabilities=self.profile.capabilities(),
                root_uri=roots[0].as_uri() if roots else None,
                workspace_folders=folders or None,
                initialization_options={"settings": dict(settings or {})},
            )
        )
        self.capabilities, self.begun = result.capabilities, True
        if self.profile.registers:
            assert await self.comes_true(lambda: bool(self.client.registered.get(types.TEXT_DOCUMENT_DIAGNOSTIC)))

    async def configure(self, settings: Mapping[str, Any]) -> None:
        """Change the settings of the user."""
        self.client.set_configuration(dict(settings), section="nonstrict")
        self.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams({"nonstrict": dict(settings)})
        )

    def open(self, path: Path | str, text: str | None = None, language: str = "python") -> str:
        """Open a file, or a document without one; its URI."""
        uri = path if isinstance(path, str) else path.as_uri()
        if text is None:
            text = path_of(uri).read_bytes().decode()
        self.documents[uri] = Document(text, 1)
        self.client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, language, 1, text))
        )
        return uri

    def change(self, uri: str, text: str) -> None:
        """Change a document, by the smallest range that differs."""
        old, version = self.documents[uri]
        start, end, new = change_between(old, text)
        place = types.Range(position_at(old, start, self.encoding), position_at(old, end, self.encoding))
        self.documents[uri] = Document(text, version + 1)
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(version + 1, uri),
                [types.TextDocumentContentChangePartial(place, new)],
            )
        )

    def save(self, uri: str) -> None:
        """Write a document to its file."""
        path_of(uri).write_bytes(self.documents[uri].text.encode())
        self.client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def close(self, uri: str) -> None:
        """Close a document."""
        del self.documents[uri]
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    def written(self, *paths: Path, kind: types.FileChangeType = types.FileChangeType.Changed) -> None:
        """Tell of files that another program wrote."""
        events = [types.FileEvent(path.as_uri(), kind) for path in paths]
        self.client.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams(events))

    async def pull(self, uri: str, previous: str | None = None) -> Any:
        """The report of a document, asked for again where the server asks for that."""
        params = types.DocumentDiagnosticParams(types.TextDocumentIdentifier(uri), "nonstrict", previous)
        while True:
            try:
                return await asyncio.wait_for(self.client.text_document_diagnostic_async(params), LIMIT)
            except JsonRpcException as problem:
                if problem.code not in (SUPERSEDED, MODIFIED):
                    raise

    async def diagnostics(self, uri: str) -> list[types.Diagnostic]:
        """The diagnostics of a document now: asked for, or the last ones that were pushed."""
        if self.profile.pulls:
            report = await self.pull(uri)
            assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
            return list(report.items)
        return list(self.client.diagnostics.get(uri, ()))

    async def shown(self, uri: str) -> list[Shown]:
        """Codes and ranges of the diagnostics of a document, in its order."""
        return shown(await self.diagnostics(uri))

    async def until(
        self, uri: str, condition: Callable[[list[types.Diagnostic]], bool], seconds: float = LIMIT
    ) -> list[types.Diagnostic]:
        """The diagnostics of a document as soon as they meet a condition.

        Raises:
            AssertionError: they do not come to meet it.
        """
        end = time.monotonic() + seconds
        while not condition(found := await self.diagnostics(uri)):
            assert time.monotonic() < end, f"the last diagnostics of {uri}: {[(d.code, d.range) for d in found]}"
            await asyncio.sleep(0.03)
        return found

    async def comes_true(self, condition: Callable[[], bool], seconds: float = LIMIT) -> bool:
        """Whether a condition is met within the time."""
        end = time.monotonic() + seconds
        while not (met := condition()) and time.monotonic() < end:
            await asyncio.sleep(0.03)
        return met

    async def actions(
        self, uri: str, found: Sequence[types.Diagnostic], only: Sequence[str] | None = None
    ) -> list[types.CodeAction]:
        """The code actions offered where the first diagnostic stands."""
        place = found[0].range
        context = types.CodeActionContext(list(found), list(only) if only else None)
        params = types.CodeActionParams(types.TextDocumentIdentifier(uri), place, context)
        offered = await self.client.text_document_code_action_async(params)
        assert all(isinstance(action, types.CodeAction) for action in offered or ())
        return [action for action in offered or () if isinstance(action, types.CodeAction)]

    async def apply(self, action: types.CodeAction) -> None:
        """Do what a code action offers."""
        if action.edit is None:
            action = await self.client.code_action_resolve_async(action)
        assert action.edit, f"{action.title}: no edit"
        self.edit(action.edit)

    def edit(self, edit: types.WorkspaceEdit) -> None:
        """Make the changes of the server in open documents."""
        for uri, edits in _edits(edit):
            self.change(uri, applied(self.documents[uri].text, edits, self.encoding))


def _edits(edit: types.WorkspaceEdit) -> Iterable[tuple[str, list[types.TextEdit]]]:
    for change in edit.document_changes or ():
        assert isinstance(change, types.TextDocumentEdit)
        yield change.text_document.uri, text_edits(change)
    for uri, edits in (edit.changes or {}).items() if not edit.document_changes else ():
        yield uri, list(edits)


def text_edits(change: types.TextDocumentEdit) -> list[types.TextEdit]:
    """The edits of a document, without what an editor may ask before it makes them."""
    parts = [part for part in change.edits if not isinstance(part, types.SnippetTextEdit)]
    assert len(parts) == len(change.edits)
    return [types.TextEdit(part.range, part.new_text) for part in parts]


def shown(diagnostics: Iterable[types.Diagnostic]) -> list[Shown]:
    """Codes and ranges of diagnostics, in order of place."""
    return sorted(
        (
            Shown(
                str(found.code),
                (found.range.start.line, found.range.start.character),
                (found.range.end.line, found.range.end.character),
            )
            for found in diagnostics
        ),
        key=lambda one: (one.start, one.code, one.end),
    )


def codes(diagnostics: Iterable[types.Diagnostic]) -> list[str]:
    """Codes of diagnostics, in order of place."""
    return [one.code for one in shown(diagnostics)]
