"""Identities of findings that survive edits elsewhere in the file: from content, never from line numbers."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from nonstrict.findings import Diagnostic
    from nonstrict.report.context import Context, Lines


def fingerprints(diagnostics: Sequence[Diagnostic], context: Context) -> list[str]:
    """One for each diagnostic: of its rule, file, marked function and line, and its number among equal ones."""
    return identified(diagnostics, context.lines, context.in_repository)


def identified(diagnostics: Iterable[Diagnostic], lines: Lines, relative: Callable[[str], str]) -> list[str]:
    """The same, with files named as `relative` makes of their paths."""
    seen: dict[str, int] = {}
    found: list[str] = []
    for diagnostic in diagnostics:
        where = diagnostic.location
        text = lines.line(where.path, where.row, where.cell) or ""
        parts = (diagnostic.code, relative(where.path), diagnostic.function, "".join(text.split()))
        identity = "\0".join(parts)
        number = seen[identity] = seen.get(identity, -1) + 1
        found.append(digest((*parts, str(number))))
    return found


def digest(parts: Iterable[str]) -> str:
    """An identity made of some texts."""
    return blake2b("\0".join(parts).encode("utf-8", "replace"), digest_size=16).hexdigest()
