"""NST507 varying-output-structure.

The structure of the result depends on state that changes while the function is traced.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the results whose structure differs from one run of the function to the next."""
    for span in body.structures:
        message = f"the output structure of `{called(body)}` depends on state that tracing changes"
        note = "torch traces it several times, gets different structures and fails"
        yield report_at(RULE, body, span, message, note=note, help="let the structure depend on arguments only")


RULE = Rule(
    code="NST507",
    name="varying-output-structure",
    severity=Severity.ERROR,
    summary="The structure of the result depends on state that changes while the function is traced.",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL),
)
