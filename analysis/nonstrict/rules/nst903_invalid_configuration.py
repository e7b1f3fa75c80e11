"""NST903 invalid-configuration: The configuration holds an unknown key or a bad value."""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST903",
    name="invalid-configuration",
    severity=Severity.ERROR,
    summary="The configuration holds an unknown key or a bad value.",
    markers=frozenset(),
)
