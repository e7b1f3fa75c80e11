"""What editors say of themselves: the capabilities that pytest-lsp recorded, brought up to the editors of today."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types
from pytest_lsp import client_capabilities

if TYPE_CHECKING:
    from collections.abc import Callable


class Profile(NamedTuple):
    """A kind of client: how it counts columns, and whether it asks for diagnostics, and from when on."""

    name: str
    encoding: str
    pulls: bool
    registers: bool
    related: bool
    capabilities: Callable[[], types.ClientCapabilities]

    def __str__(self) -> str:
        return self.name


def _code() -> types.ClientCapabilities:
    """VS Code 1.65 as recorded, with what its language client announces since: pull, refreshes, notebooks."""
    found = client_capabilities("visual-studio-code")
    assert found.general
    assert found.workspace
    assert found.text_document
    found.general.position_encodings = [types.PositionEncodingKind.Utf16]
    found.general.stale_request_support = types.StaleRequestSupportOptions(
        cancel=True, retry_on_content_modified=["textDocument/semanticTokens/full"]
    )
    found.workspace.diagnostics = types.DiagnosticWorkspaceClientCapabilities(refresh_support=True)
    found.workspace.text_document_content = types.TextDocumentContentClientCapabilities(dynamic_registration=True)
    found.workspace.inlay_hint = types.InlayHintWorkspaceClientCapabilities(refresh_support=True)
    found.workspace.code_lens = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
    found.text_document.inlay_hint = types.InlayHintClientCapabilities(dynamic_registration=True)
    found.text_document.diagnostic = types.DiagnosticClientCapabilities(
        dynamic_registration=True, related_document_support=True
    )
    found.notebook_document = types.NotebookDocumentClientCapabilities(
        types.NotebookDocumentSyncClientCapabilities(dynamic_registration=True, execution_summary_support=True)
    )
    return found


def _extension() -> types.ClientCapabilities:
    """VS Code with our extension, which draws verdicts."""
    found = _code()
    found.experimental = {"nonstrictVerdicts": True}
    return found


CODE = Profile("code", "utf-16", pulls=True, registers=True, related=True, capabilities=_code)
EXTENSION = CODE._replace(name="extension", capabilities=_extension)


def _pulling() -> types.ClientCapabilities:
    """A client that shows only what it asks for, and cannot be told to ask again."""
    found = client_capabilities("neovim@v0.11")
    assert found.text_document
    found.text_document.publish_diagnostics = None
    return found


#: It could pull, but is told: it has no refresh.
NEOVIM = Profile(
    "neovim",
    "utf-8",
    pulls=False,
    registers=False,
    related=True,
    capabilities=lambda: client_capabilities("neovim@v0.11"),
)
EMACS = Profile(
    "emacs",
    "utf-32",
    pulls=False,
    registers=False,
    related=False,
    capabilities=lambda: client_capabilities("emacs"),
)
PULLING = Profile("pulling", "utf-8", pulls=True, registers=False, related=False, capabilities=_pulling)
PROFILES = (CODE, NEOVIM, EMACS)
