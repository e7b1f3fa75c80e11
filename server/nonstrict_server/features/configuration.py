"""The settings of the client: asked for where the client answers, taken as they come where it does not."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from nonstrict_server.conversion import converted
from nonstrict_server.features import contents, diagnostics, switched, watched_files
from nonstrict_server.positions import places_of
from nonstrict_server.settings import SECTION, client_settings, section_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict_server.server import Server

_log = logging.getLogger(__name__)


def register(server: Server) -> None:
    """Hear of settings, and show what is wrong in configuration files."""
    server.feature(lsp.INITIALIZED)(initialized)
    server.feature(lsp.WORKSPACE_DID_CHANGE_CONFIGURATION)(did_change_configuration)
    mistakes = _Mistakes(server)
    server.on_misconfigured = mistakes.show
    server.on_edited.append(mistakes.place)


def initialized(ls: Server, params: lsp.InitializedParams) -> None:
    """The client is ready for requests."""
    diagnostics.serve(ls)
    switched.serve(ls)
    registrations: list[lsp.Registration] = [*watched_files.registrations(ls), *contents.registrations(ls)]
    if ls.abilities.registers_configuration:
        options = lsp.DidChangeConfigurationRegistrationOptions(section=SECTION)
        registrations.append(lsp.Registration("nonstrict-settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    if registrations:
        ls.client_register_capability(lsp.RegistrationParams(registrations))
    if not ask_for_settings(ls):
        _register(ls)


def did_change_configuration(ls: Server, params: lsp.DidChangeConfigurationParams) -> None:
    """Settings were changed: ask which, or take what came along."""
    if ask_for_settings(ls):
        return
    settings = client_settings(section_of(params.settings), ls.documents.home)
    ls.configure({"": settings, **dict.fromkeys(ls.roots, settings)})
    _after(ls)


def ask_for_settings(ls: Server) -> bool:
    """Ask for the settings of all folders; whether the client answers such questions."""
    if not ls.abilities.configures:
        return False
    task = asyncio.ensure_future(_ask(ls))
    _asking.add(task)
    task.add_done_callback(_asking.discard)
    return True


#: The loop itself holds its tasks by weak references only.
_asking: set[asyncio.Task[None]] = set()


async def _ask(ls: Server) -> None:
    roots = list(ls.roots)
    items = [lsp.ConfigurationItem(section=SECTION)]
    items += [lsp.ConfigurationItem(scope_uri=ls.root_uris.get(root), section=SECTION) for root in roots]
    try:
        answers: Sequence[Any] | None = await ls.workspace_configuration_async(lsp.ConfigurationParams(items))
    except Exception as error:  # noqa: BLE001 - the defaults will do
        _log.warning("the client did not say its settings: %s", error)
        answers = None
    if answers is None or len(answers) != len(items):
        answers = [None] * len(items)
    places = ["", *roots]
    ls.configure(
        {
            place: ls.initial_settings
            if answer is None
            else client_settings(section_of(answer), place or ls.documents.home)
            for place, answer in zip(places, answers, strict=True)
        }
    )
    _after(ls)


def _after(ls: Server) -> None:
    _register(ls)
    ls.changed(None)


def _register(ls: Server) -> None:
    """Have the client ask for what the user wants by now."""
    diagnostics.register_with_client(ls)
    switched.register_with_client(ls)


class _Mistakes:
    """NST903 at files of configuration and at models.

    These are published for every client: an editor pulls diagnostics of documents in the languages it was told, and a
    configuration file need not even be open. A model that is open is a document in Python, whose report holds them.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._found: dict[str, list[Diagnostic]] = {}

    def show(self, found: dict[str, list[Diagnostic]]) -> None:
        """Publish what is wrong with files; of those that are mended nothing."""
        self._found = {path: mistakes for path, mistakes in {**self._found, **found}.items() if mistakes}
        for path, mistakes in found.items():
            self._publish(path, mistakes)
            if mistakes:
                told = f"{path}: {mistakes[0].message}."
                rest = "Until it is corrected, the last valid configuration applies, or the defaults if there was none."
                self._server.complain(f"{told} {rest}")

    def place(self, path: str) -> None:
        """A document was opened or closed, which decides who tells of it."""
        if path in self._found and not watched_files.is_configuration(path):
            self._publish(path, self._found[path])

    def _publish(self, path: str, mistakes: Sequence[Diagnostic]) -> None:
        documents = self._server.documents
        reported = documents.is_open(path) and not watched_files.is_configuration(path)
        if reported and not self._server.abilities.pulls:
            return
        told: Sequence[Diagnostic] = () if reported else mistakes
        shown = [converted(one, places_of(one.location, None, documents.encoding)) for one in told]
        self._server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(documents.uri_of(path), shown))
