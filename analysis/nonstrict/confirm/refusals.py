"""Errors that a program meets only because it runs in a sandbox: they say nothing about the program."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What the sandbox forbids (EPERM, EACCES, EROFS, EXDEV-like copies of foreign files), and a network that is not there
#: (EADDRNOTAVAIL, ENETDOWN, ENETUNREACH, ECONNREFUSED, EHOSTUNREACH; names that are not resolved), by number on Linux.
_NUMBERS = re.compile(r"\[Errno (?:1|13|30|75|99|100|101|111|113|-2|-3|-5)\]")
_OF_SYSTEM = frozenset({"PermissionError", "ConnectionRefusedError", "OSError", "gaierror", "error"})


def refused_by_sandbox(error: Mapping[str, Any]) -> str:
    """The refusal of the system in the chain of an error, as a sentence; empty if there is none.

    The system gives a number, which what a program raises by itself has not.
    """
    for link in error["links"]:
        if link["type"] in _OF_SYSTEM and _NUMBERS.search(link["message"]):
            return f"{link['type']}: {link['message']}".split("\n", 1)[0]
    return ""
