"""NST805 stale-value: A number that varies is a constant of the compiled graph, which also runs for other values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_NOTE = "Inductor caches a graph with the value as a constant, and the calls that follow get it too"
_ADVICE = "hold it in a tensor to compute with it, or compile with `dynamic=False`"
_ORDINALS = ("", "first", "second")


def examine(body: Body) -> Iterator[Finding]:
    """Yield the arguments of operators that keep a value which calls have left behind."""
    for one in body.stale_values:
        name = one.place.text
        beside = Related(one.computed.effect.span, "computed with here, as a tensor")
        message = f"`{name}` varies from call to call, and keeps its {_ORDINALS[one.kept]} value here"
        yield report(RULE, body, one.seen, message, note=_NOTE, help=_ADVICE, evidence=(beside, *one.evidence))


def fixes(context: Context) -> Iterator[Fix]:
    """Compile with `dynamic=False`: numbers are constants then, and guarded."""
    from nonstrict.fixes.marks import staying

    yield from staying.with_dynamic(context, value=False)


RULE = Rule(
    code="NST805",
    name="stale-value",
    severity=Severity.ERROR,
    summary="A number that varies is a constant of the compiled graph, which also runs for other values.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.STALE),
    hint="stale",
)
