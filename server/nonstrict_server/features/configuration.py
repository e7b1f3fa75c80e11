"""The settings of the client: asked for where the client answers, taken as they come where it does not."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

from lsprotocol import types as lsp

from nonstrict_server.conversion import converted
from nonstrict_server.features import contents, diagnostics, watched_files
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
    server.on_misconfigured = lambda found: _show_mistakes(server, found)


def initialized(ls: Server, params: lsp.InitializedParams) -> None:
    """The client is ready for requests."""
    diagnostics.serve(ls)
    registrations: list[lsp.Registration] = [*watched_files.registrations(ls), *contents.registrations(ls)]
    if ls.abilities.registers_configuration:
        options = lsp.DidChangeConfigurationRegistrationOptions(section=SECTION)
        registrations.append(lsp.Registration("nonstrict-settings", lsp.WORKSPACE_DID_CHANGE_CONFIGURATION, options))
    if registrations:
        ls.client_register_capability(lsp.RegistrationParams(registrations))
    if not ask_for_settings(ls):
        diagnostics.register_with_client(ls)


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
        answers: Sequence[Any] = await ls.workspace_configuration_async(lsp.ConfigurationParams(items))
    except Exception:  # noqa: BLE001 - the defaults will do
        _log.exception("the client did not say its settings")
        answers = ()
    if len(answers) != len(items):
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
    diagnostics.register_with_client(ls)
    ls.changed(None)


def _show_mistakes(ls: Server, found: dict[str, list[Diagnostic]]) -> None:
    """NST903 at the configuration file.

    These are published for every client: an editor pulls diagnostics of documents in the languages it was told, and a
    configuration file need not even be open.
    """
    for path, mistakes in found.items():
        shown = [converted(one, places_of(one.location, None, ls.documents.encoding)) for one in mistakes]
        ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(ls.documents.uri_of(path), shown))
        if shown:
            ls.complain(
                f"{path}: {mistakes[0].message}. What was valid before, or the default, counts until it is corrected."
            )
