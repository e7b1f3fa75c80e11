"""Diagnostics for clients that ask for them: of a document, and of the whole workspace."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from lsprotocol import types as lsp

from nonstrict_server.documents import Place
from nonstrict_server.protocol import Encoded

if TYPE_CHECKING:
    from nonstrict_server.reports import Report
    from nonstrict_server.server import Server

IDENTIFIER = "nonstrict"
#: How long a first report waits for what other files lead to, in seconds.
_PATIENCE = 10.0
_REGISTRATION = "nonstrict-diagnostics"
#: The documents that the analysis reads.
SELECTOR: lsp.DocumentSelector = (
    lsp.TextDocumentFilterLanguage("python"),
    lsp.TextDocumentFilterLanguage("markdown"),
    lsp.TextDocumentFilterLanguage("restructuredtext"),
    lsp.NotebookCellTextDocumentFilter(notebook="*", language="python"),
)


def announce(server: Server) -> None:
    """Say, while the client initialises, that diagnostics can be pulled, unless it prefers to be asked later."""
    if server.abilities.registers_diagnostics:
        return
    whole = server.shows_workspace
    options = lsp.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=whole, identifier=IDENTIFIER)
    server.feature(lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)(document_diagnostic)
    if whole:
        server.feature(lsp.WORKSPACE_DIAGNOSTIC)(workspace_diagnostic)


def serve(ls: Server) -> None:
    """Answer also what was not announced as fixed, now that the client has initialised."""
    if ls.abilities.pulls:
        for method, handler in (
            (lsp.TEXT_DOCUMENT_DIAGNOSTIC, document_diagnostic),
            (lsp.WORKSPACE_DIAGNOSTIC, workspace_diagnostic),
        ):
            if not ls.protocol.handles(method):
                ls.feature(method)(handler)


def register_with_client(ls: Server) -> None:
    """Ask the client to pull; again if the user now wants the whole workspace, or no longer."""
    if not (ls.abilities.pulls and ls.abilities.registers_diagnostics):
        return
    whole = ls.shows_workspace
    known = ls.pulled_workspace
    if known == whole:
        return
    if known is not None:
        again = lsp.Unregistration(_REGISTRATION, lsp.TEXT_DOCUMENT_DIAGNOSTIC)
        ls.client_unregister_capability(lsp.UnregistrationParams([again]))
    ls.pulled_workspace = whole
    options = lsp.DiagnosticRegistrationOptions(
        inter_file_dependencies=True,
        workspace_diagnostics=whole,
        document_selector=SELECTOR,
        identifier=IDENTIFIER,
    )
    registration = lsp.Registration(_REGISTRATION, lsp.TEXT_DOCUMENT_DIAGNOSTIC, options)
    ls.client_register_capability(lsp.RegistrationParams([registration]))


async def document_diagnostic(ls: Server, params: lsp.DocumentDiagnosticParams) -> Encoded:
    """The diagnostics of a document as it is now."""
    uri = params.text_document.uri
    place, version = ls.documents.place_of(uri), ls.documents.version_of(uri)
    await _first_pass(ls)
    report = await ls.ask(lambda engine: engine.report(*place), lambda: ls.documents.version_of(uri) != version)
    return Encoded("{" + _body(report, params.previous_result_id) + "}")


async def workspace_diagnostic(ls: Server, params: lsp.WorkspaceDiagnosticParams) -> Encoded:
    """The diagnostics of all files that have some, and of those that had some."""
    before = {one.uri: one.value for one in params.previous_result_ids}
    paths = await ls.ask(lambda engine: engine.files_with_findings())
    places = {
        uri: Place(path, cell)
        for path in paths
        for uri, cell in (ls.documents.documents_of(path) or [(ls.documents.uri_of(path), None)])
    }
    places |= {uri: ls.documents.place_of(uri) for uri in before if uri not in places}
    items: list[str] = []
    for uri, place in places.items():
        # One file at a time, so that what the user does meanwhile comes first.
        report = await ls.scheduler.ask(lambda place=place: ls.engine.report(*place))
        version = json.dumps(ls.documents.version_of(uri))
        items.append(f'{{"uri":{json.dumps(uri)},"version":{version},{_body(report, before.get(uri))}}}')
    return Encoded(f'{{"items":[{",".join(items)}]}}')


async def _first_pass(ls: Server) -> None:
    """Wait, within limits, for all marked files if the client could not be told later that there is more."""
    if not (ls.first_pass.done() or ls.abilities.refreshes_diagnostics):
        await asyncio.wait([ls.first_pass], timeout=_PATIENCE)


def _body(report: Report, previous: str | None) -> str:
    if report.identity == previous:
        return f'"kind":"unchanged","resultId":"{report.identity}"'
    return f'"kind":"full","resultId":"{report.identity}","items":[{report.items}]'
