"""The language server: the protocol (pygls, lsprotocol) on top of `nonstrict.check.live`, no analysis of its own."""

from __future__ import annotations
