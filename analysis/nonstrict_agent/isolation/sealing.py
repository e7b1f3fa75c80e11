"""Seals what a contained process says of its work, so that what else is written to the same place is not taken for it.

The work runs in that process, and may find the descriptor. It does not find the key in its memory by looking: that is
in an object of C that signs and tells nothing. Work that searches the frames of its callers for this object can sign
with it, and work that replaces parts of the agent can have it sign anything: they share a process. A seal tells what
was forged by less than that.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_KEY_SIZE = 32
_SEAL_SIZE = 32
#: Before each sealed line, in hexadecimal digits.
LENGTH = 2 * _SEAL_SIZE


def pair() -> tuple[Callable[[bytes], bytes], Callable[[bytes], bytes | None]]:
    """What seals a line, and what opens it: to None if it was not sealed by the same pair. For one line."""
    keyed = hashlib.blake2b(key=os.urandom(_KEY_SIZE), digest_size=_SEAL_SIZE)
    return _sealer(keyed.copy()), _opener(keyed)


def _sealer(keyed: hashlib.blake2b) -> Callable[[bytes], bytes]:
    def seal(line: bytes) -> bytes:
        keyed.update(line)
        return keyed.hexdigest().encode("ascii") + line

    return seal


def _opener(keyed: hashlib.blake2b) -> Callable[[bytes], bytes | None]:
    from hmac import compare_digest

    def opened(line: bytes) -> bytes | None:
        own = keyed.copy()
        own.update(line[LENGTH:])
        return line[LENGTH:] if compare_digest(own.hexdigest().encode("ascii"), line[:LENGTH]) else None

    return opened
