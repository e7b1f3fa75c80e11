"""NST901 syntax-error: The file does not parse; the rest of it is still checked."""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST901",
    name="syntax-error",
    severity=Severity.ERROR,
    summary="The file does not parse; the rest of it is still checked.",
    markers=frozenset(),
)
