"""NST504 unsound-pytree-registration.

A class is registered with pytrees in a way that loses or freezes what a marked function reads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.expectation import OF_ARGUMENTS, Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the registrations that lose something of what the function gets."""
    for registration, fault in body.unsound:
        note, advice, evidence = fault.note, fault.advice, fault.evidence
        yield report_at(RULE, body, registration.span, fault.message, note=note, help=advice, evidence=evidence)


def fixes(context: Context) -> Iterator[Fix]:
    """Register every field, or in another way."""
    from nonstrict.fixes.boundary.registering import repair

    yield from repair(context)


RULE = Rule(
    code="NST504",
    name="unsound-pytree-registration",
    severity=Severity.ERROR,
    summary="A class is registered with pytrees in a way that loses or freezes what a marked function reads.",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, refusals=OF_ARGUMENTS),
)
