"""NST602 conflicting-decorators.

A marker is applied to a function that it cannot mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.conflicts import conflict_of, is_told_by_twin
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what a marker cannot be combined with; the first reason is enough."""
    conflict = conflict_of(body)
    if conflict is None or is_told_by_twin(body):
        return
    evidence = (Related(conflict.other, "the other decorator"),) if conflict.other is not None else ()
    falls_back = not conflict.at_once and body.applied.falls_back
    why = f"{conflict.why}; without `fullgraph=True` it silently runs in eager mode" if falls_back else conflict.why
    severity = Severity.NOTE if falls_back else Severity.ERROR
    if conflict.uncalled_is_fine and not (body.applied.compiled_calls or body.applied.is_compiled):
        severity = Severity.WARNING
    yield report_at(
        RULE, body, body.marked_at, conflict.what, note=why, help=conflict.advice, severity=severity, evidence=evidence
    )


def fixes(context: Context) -> Iterator[Fix]:
    """Reorder the decorators, or drop one."""
    from nonstrict.fixes.marks.decorators import reconcile
    from nonstrict.fixes.marks.forwards import mark_other_method

    yield from reconcile(context)
    yield from mark_other_method(context)


RULE = Rule(
    code="NST602",
    name="conflicting-decorators",
    severity=Severity.ERROR,
    summary="A marker is applied to a function that it cannot mark.",
    markers=frozenset({"nonstrict", "in-graph", "constant-result", "leaf"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.IN_MARKERS),
)
