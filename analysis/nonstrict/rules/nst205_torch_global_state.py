"""NST205 torch-global-state.

A traced function changes torch's global state (seed, default dtype, backend flags) while tracing only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Severity
from nonstrict.program.domain.values import Kind
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.effect_texts import clause, code, effect_severity, repetition, when
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_VERB = "changes torch's global state"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of torch's global state."""
    for seen in body.observed(Event.TORCH_STATE):
        effect = seen.effect
        if effect.value.kind is Kind.BOOL:
            message = f"{code(effect.what)} as a statement sets grad mode {when(body)}"
            advice = "use `with torch.no_grad():` or `with torch.enable_grad():`"
            yield report(RULE, body, seen, message, note=repetition(body), help=advice, severity=Severity.NOTE)
            continue
        message = f"{clause(effect, _VERB)} {when(body)}"
        advice = "set it before the compiled region is called"
        severity = effect_severity(RULE, body)
        yield report(RULE, body, seen, message, note=repetition(body), help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Use a context manager, or move the call to the caller."""
    from nonstrict.fixes.effects.modes import enter_grad_mode, leave_inference_mode
    from nonstrict.fixes.effects.moving import move_call
    from nonstrict.fixes.effects.removing import remove

    seen = context.observed(Event.TORCH_STATE)
    if seen is not None and seen.effect.value.kind is Kind.BOOL:
        yield from enter_grad_mode(context)
        return
    yield from leave_inference_mode(context)
    yield from move_call(context)
    # Without a seed, plain Python computes something else.
    yield from remove(context, Applicability.DISPLAY)


RULE = Rule(
    code="NST205",
    name="torch-global-state",
    severity=Severity.WARNING,
    summary="A traced function changes torch's global state (seed, default dtype, backend flags) while tracing only.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.EFFECT),
    gathered="change the global state of torch",
)
