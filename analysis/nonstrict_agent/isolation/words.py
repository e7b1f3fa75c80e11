"""Long tables of names, written as text."""

from __future__ import annotations


def words(text: str) -> tuple[str, ...]:
    """The names in a table, in order."""
    return tuple(text.split())
