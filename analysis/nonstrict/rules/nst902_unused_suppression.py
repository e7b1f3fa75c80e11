"""NST902 unused-suppression: A suppression comment suppresses nothing."""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, Tag

RULE = Rule(
    code="NST902",
    name="unused-suppression",
    severity=Severity.NOTE,
    summary="A suppression comment suppresses nothing.",
    markers=frozenset(),
    tag=Tag.UNNECESSARY,
)
