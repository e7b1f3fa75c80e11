"""NST903 invalid-configuration: The configuration has an unknown key or an invalid value."""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST903",
    name="invalid-configuration",
    severity=Severity.ERROR,
    summary="The configuration has an unknown key or an invalid value.",
    markers=frozenset(),
)
