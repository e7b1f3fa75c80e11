"""Features that users switch on and off: with clients that can be told later, they are there while they are wanted.

With others they are announced once and for all, and answer with nothing while nobody wants them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lsprotocol import types as lsp

from nonstrict_server.features import document_symbols, semantic_tokens
from nonstrict_server.features.diagnostics import SELECTOR

if TYPE_CHECKING:
    from nonstrict_server.server import Server


class _Switch(NamedTuple):
    """A feature as it is registered: its name in the protocol, what a registration says besides, and whether it is on.

    `later` tells whether the client may hear of it after it has initialised.
    """

    method: str
    options: lsp.DocumentSymbolRegistrationOptions | lsp.SemanticTokensRegistrationOptions
    wanted: bool
    later: bool


def announce(server: Server) -> None:
    """Say, while the client initialises, what it cannot be told later."""
    abilities = server.abilities
    if not abilities.registers_symbols:
        document_symbols.serve(server)
    if not abilities.registers_tokens:
        semantic_tokens.serve(server)


def serve(ls: Server) -> None:
    """Answer also what was not announced as fixed, now that the client has initialised."""
    if ls.abilities.registers_symbols:
        document_symbols.serve(ls)
    if ls.abilities.registers_tokens:
        semantic_tokens.serve(ls)


def register_with_client(ls: Server) -> None:
    """Tell the client what users want by now, and what they do not want any longer."""
    for switch in _switches(ls):
        known = switch.method in ls.switched_on
        if not switch.later or switch.wanted == known:
            continue
        identity = f"nonstrict-{switch.method}"
        if switch.wanted:
            ls.switched_on.add(switch.method)
            registration = lsp.Registration(identity, switch.method, switch.options)
            ls.client_register_capability(lsp.RegistrationParams([registration]))
        else:
            ls.switched_on.discard(switch.method)
            gone = lsp.Unregistration(identity, switch.method)
            ls.client_unregister_capability(lsp.UnregistrationParams([gone]))


def _switches(ls: Server) -> tuple[_Switch, ...]:
    known = ls.settings.values()
    return (
        _Switch(
            lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL,
            lsp.DocumentSymbolRegistrationOptions(SELECTOR, label="nonstrict"),
            any(settings.symbols for settings in known),
            ls.abilities.registers_symbols,
        ),
        _Switch(
            semantic_tokens.METHOD,
            lsp.SemanticTokensRegistrationOptions(semantic_tokens.LEGEND, SELECTOR, range=True, full=True),
            any(settings.tokens for settings in known),
            ls.abilities.registers_tokens,
        ),
    )
