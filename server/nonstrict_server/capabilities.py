"""What the client can do, asked once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pygls.capabilities import get_capability

if TYPE_CHECKING:
    from lsprotocol import types as lsp


class Abilities(NamedTuple):
    """What of the protocol the client speaks, as far as it matters here."""

    pulls: bool
    registers_diagnostics: bool
    refreshes_diagnostics: bool
    registers_watchers: bool
    registers_configuration: bool
    configures: bool
    progresses: bool
    refreshes_lenses: bool
    refreshes_hints: bool
    refreshes_tokens: bool
    registers_symbols: bool
    nests_symbols: bool
    registers_tokens: bool
    resolves_edits: bool
    versioned_edits: bool
    asks_before_edits: bool
    related: bool
    markdown: bool
    opens_contents: bool
    shows_documents: bool
    hears_status: bool
    maps_regions: bool
    draws_verdicts: bool


def abilities_of(client: lsp.ClientCapabilities) -> Abilities:
    """Read the capabilities of a client."""

    def has(path: str) -> bool:
        return bool(get_capability(client, path, False))

    resolved: Any = get_capability(client, "text_document.code_action.resolve_support.properties", ())
    formats: Any = get_capability(client, "text_document.hover.content_format", ())
    return Abilities(
        pulls=_pulls(client),
        registers_diagnostics=has("text_document.diagnostic.dynamic_registration"),
        refreshes_diagnostics=has("workspace.diagnostics.refresh_support"),
        registers_watchers=has("workspace.did_change_watched_files.dynamic_registration"),
        registers_configuration=has("workspace.did_change_configuration.dynamic_registration"),
        configures=has("workspace.configuration"),
        progresses=has("window.work_done_progress"),
        refreshes_lenses=has("workspace.code_lens.refresh_support"),
        refreshes_hints=has("workspace.inlay_hint.refresh_support"),
        refreshes_tokens=has("workspace.semantic_tokens.refresh_support"),
        registers_symbols=has("text_document.document_symbol.dynamic_registration"),
        nests_symbols=has("text_document.document_symbol.hierarchical_document_symbol_support"),
        registers_tokens=has("text_document.semantic_tokens.dynamic_registration"),
        resolves_edits="edit" in (resolved or ()) and has("text_document.code_action.data_support"),
        versioned_edits=has("workspace.workspace_edit.document_changes"),
        asks_before_edits=has("workspace.workspace_edit.document_changes")
        and has("workspace.workspace_edit.change_annotation_support"),
        # Clients that pull say so there, those that are pushed to say so here; many that show it say it only here.
        related=has("text_document.publish_diagnostics.related_information")
        or has("text_document.diagnostic.related_information"),
        markdown=not formats or "markdown" in formats,
        opens_contents=has("workspace.text_document_content.dynamic_registration"),
        shows_documents=has("window.show_document.support"),
        hears_status=_speaks(client.experimental, "nonstrictStatus"),
        maps_regions=_speaks(client.experimental, "nonstrictRegions"),
        draws_verdicts=_speaks(client.experimental, "nonstrictVerdicts"),
    )


def _pulls(client: lsp.ClientCapabilities) -> bool:
    """Whether diagnostics are for the client to ask for.

    Who cannot be told to ask again would keep, until the next key is pressed, what an edit in another file or an
    experiment made untrue. To such clients they are published instead, never also: many show both, in two places.
    """
    if get_capability(client, "text_document.diagnostic", None) is None:
        return False
    refreshed = bool(get_capability(client, "workspace.diagnostics.refresh_support", False))
    return refreshed or get_capability(client, "text_document.publish_diagnostics", None) is None


def _speaks(experimental: object, capability: str) -> bool:
    return isinstance(experimental, dict) and bool(experimental.get(capability))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType]
