"""NST210 escaping-exception.

A traced function raises an exception that its callers mean to catch; torch turns it into another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.program.domain.exceptions import catchable
from nonstrict.rules.base import TRACED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

#: What an exception comes out as where it is no `Unsupported`, by kind of marker.
_OUTCOMES = {"in-graph": "TorchRuntimeError"}
#: Handlers that also catch what torch raises in place of the original exception.
_BROAD = frozenset({"", "RuntimeError", "Exception", "BaseException"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the exceptions that some caller of the marked function handles."""
    for seen in body.observed(Event.RAISE):
        caught = body.caught & catchable(seen.effect.what, seen.effect.value)
        if not caught:
            continue
        narrow = bool(caught - _BROAD)
        raised = f"`{seen.effect.what}`" if seen.effect.what else "the exception"
        message = f"{raised} reaches the caller as `torch._dynamo.exc.{_OUTCOMES.get(body.marker, 'Unsupported')}`"
        note = f"it is raised while `{body.api}` traces `{body.function}`; {_fate(narrow=narrow)}"
        advice = "check in front of the call, in the region or its caller"
        severity = RULE.severity if narrow else Severity.NOTE
        yield report(RULE, body, seen, message, note=note, help=advice, severity=severity)


def _fate(*, narrow: bool) -> str:
    return "the handler does not catch that" if narrow else "a handler in the region cannot catch that"


def fixes(context: Context) -> Iterator[Fix]:
    """Check before the function is called."""
    from nonstrict.fixes.effects.moving import move_check

    yield from move_check(context)


RULE = Rule(
    code="NST210",
    name="escaping-exception",
    severity=Severity.WARNING,
    summary="A traced function raises an exception that its callers mean to catch; torch turns it into another one.",
    # `make_fx`, `aot_function` and non-strict export let exceptions through as they are.
    markers=TRACED - {"make-fx"},
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.REFUSAL),
)
