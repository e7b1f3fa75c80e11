"""The language server's package: it will hold the protocol (pygls, lsprotocol) and no analysis of its own.

It holds no server yet; `nonstrict check` is the way to run the analysis.
"""

from __future__ import annotations
