"""NST806 dropped-guard: A region keeps a value from its compilation although it varies, because no guard checks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

_NOTE = "later calls run the code of the first call: they use its value, or fail"
_ADVICE = "keep the guard, or hold the value in a tensor"

_LATE_NOTE = "Dynamo does not guard added hooks: later calls run the code of the first call, without the hook"
_LATE_ADVICE = (
    "register it before the first call, call `torch.compiler.reset()` afterwards, "
    "or set `torch._dynamo.config.skip_nnmodule_hook_guards = False`"
)


def examine(body: Body) -> Iterator[Finding]:
    """Yield what varies from call to call, and is used without a guard, and the hooks that come too late."""
    for one in body.dropped_guards:
        message = f"`{one.name}` varies from call to call, and its guard is dropped by `guard_filter_fn`"
        yield report(RULE, body, one.seen, message, note=_NOTE, help=_ADVICE, evidence=one.evidence)
    for late in body.late_hooks:
        message = f"this hook of `{late.name}` is not run: `{body.function}` was compiled without it"
        yield report(RULE, body, late.seen, message, note=_LATE_NOTE, help=_LATE_ADVICE, evidence=late.evidence)


RULE = Rule(
    code="NST806",
    name="dropped-guard",
    severity=Severity.ERROR,
    summary="A region keeps a value from its compilation although it varies, because no guard checks it.",
    markers=COMPILED,
    examine=examine,
    expectation=Expectation(Experiment.CHANGE, traits=Trait.STALE | Trait.BETWEEN_CALLS),
    hint="stale",
)
