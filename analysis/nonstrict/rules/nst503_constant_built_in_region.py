"""NST503 constant-built-in-region.

A region makes an object of a class registered as a constant and passes it to a marked function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.contracts.boundary.making import Made
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the constants that regions construct and pass."""
    for argument in body.boundary_arguments:
        constant = next((one for one in argument.registrations if one.kind == "constant"), None)
        if constant is None or not argument.made:
            continue
        sometimes = argument.made is Made.SOMETIMES
        message = (
            f"{'in some calls ' if sometimes else ''}the region itself creates the `{constant.cls.name}` that it "
            f"passes to `{called(body)}`"
        )
        note = "it is registered as a constant, which torch.compile cannot guard there: compilation fails"
        evidence = (Related(constant.span, "registered as a constant here"),)
        severity = Severity.WARNING if sometimes else RULE.severity
        advice = "create the object outside the region"
        yield report_at(
            RULE, body, argument.span, message, note=note, help=advice, evidence=evidence, severity=severity
        )


def fixes(context: Context) -> Iterator[Fix]:
    """Make the object outside the region."""
    from nonstrict.fixes.marks.outside import move_constant

    yield from move_constant(context)


RULE = Rule(
    code="NST503",
    name="constant-built-in-region",
    severity=Severity.ERROR,
    summary="A region makes an object of a class registered as a constant and passes it to a marked function.",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL),
)
