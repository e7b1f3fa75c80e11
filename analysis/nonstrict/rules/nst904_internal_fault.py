"""NST904 internal-fault: Part of the analysis failed because of a bug in nonstrict."""

from __future__ import annotations

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule

RULE = Rule(
    code="NST904",
    name="internal-fault",
    severity=Severity.ERROR,
    summary="Part of the analysis failed because of a bug in nonstrict.",
    markers=frozenset(),
)
