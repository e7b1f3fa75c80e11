"""NST609 silent-fallback.

Without fullgraph=True, a region runs a marked function in Python because torch refuses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

#: Rules whose errors end in a graph break where that is allowed.
_REFUSALS = ("NST401", "NST402", "NST501", "NST502", "NST602")
#: Of these, the ones that are told of a call, and are notes where every call falls back.
_OF_CALLS = frozenset({"NST501"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls in regions that fall back to Python."""
    calls = [call for call in body.applied.compiled_calls if not call.fullgraph]
    if not calls:
        return
    reason = _refusal(body)
    if reason is None:
        return
    for call in calls:
        message = f"torch refuses `{called(body)}` ({reason.code}), and the region runs it in eager mode"
        note = "without `fullgraph=True` the graph breaks here silently"
        evidence = (Related(reason.span, reason.message),)
        advice = "compile with `fullgraph=True` to get an error instead"
        yield report_at(RULE, body, call.span, message, note=note, help=advice, evidence=evidence)


def _refusal(body: Body) -> Finding | None:
    from nonstrict.rules.registry import RULES

    for code in _REFUSALS:
        rule = RULES.get(code)
        if rule is None or rule.examine is None or body.marker not in rule.markers:
            continue
        for finding in rule.examine(body):
            if finding.severity is Severity.ERROR or code in _OF_CALLS:
                return finding
    return None


RULE = Rule(
    code="NST609",
    name="silent-fallback",
    severity=Severity.NOTE,
    summary="Without fullgraph=True, a region runs a marked function in Python because torch refuses it.",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
)
