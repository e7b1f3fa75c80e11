"""NST806 dropped-guard: A region keeps the first value of what varies, as the program drops the guard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

_NOTE = "what the first call compiled runs in all calls that follow: they get its value, or fail"
_ADVICE = "keep the guard, or hold the value in a tensor"


def examine(body: Body) -> Iterator[Finding]:
    """Yield what varies from call to call, and is used without a guard."""
    for one in body.dropped_guards:
        message = f"`{one.name}` varies from call to call, and its guard is dropped by `guard_filter_fn`"
        yield report(RULE, body, one.seen, message, note=_NOTE, help=_ADVICE, evidence=one.evidence)


RULE = Rule(
    code="NST806",
    name="dropped-guard",
    severity=Severity.ERROR,
    summary="A region keeps the first value of what varies, as the program drops the guard.",
    markers=COMPILED,
    examine=examine,
    expectation=Expectation(Experiment.CHANGE, traits=Trait.STALE),
    hint="stale",
)
