"""NST801 ineffective-compile: Nothing is compiled: the result of torch.compile is unused or never called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.domain.values import Kind
from nonstrict.rules.base import COMPILED, INEFFECTIVE, Rule, report_at
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Span
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.misapplied import Wasted
    from nonstrict.rules.base import Body

#: Messages and notes, by how the application is wasted.
_MESSAGES = {
    "dropped": ("the result of `torch.compile` is unused: nothing is compiled", "`{given}` itself stays as it is"),
    "rebound": (
        "the result of `torch.compile` is bound to the parameter `{name}` only, and nothing calls it",
        "other references to the object still run it uncompiled",
    ),
    "unused": ("the result of `torch.compile` is bound to `{name}`, which is never called", "nothing is compiled"),
    "member": (
        "only methods of the compiled module are called",
        "they are not compiled, and nothing calls the module itself",
    ),
    "of-torch": (
        "`{given}.compile()` compiles nothing: Dynamo skips the calls of modules of torch",
        "under `fullgraph=True` the first call is an error",
    ),
}
_PAST = (
    "`{method}` runs uncompiled",
    "`torch.compile` compiles only `forward`, and nothing calls it",
)
_FORWARD = ("`forward` runs uncompiled", "after `{name}.compile()` only `{name}(...)` runs compiled code")
_TENSORLESS = "`{function}` has no tensor operation: nothing is compiled"
_NUMBERS = "compile the function that computes with tensors; plain numbers gain nothing from it"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the application, or the calls that go past it."""
    if body.marker in COMPILED:
        if not body.fullgraph and body.applied.computes_no_tensor(body.arguments):
            yield report_at(RULE, body, body.marked_at, _TENSORLESS.format(function=body.function), help=_NUMBERS)
        return
    wasted = body.applied.wasted
    if wasted is None:
        return
    for span, (message, note), evidence in _placed(body, wasted):
        found = report_at(RULE, body, span, message, note=note, help=_advice(body, wasted), evidence=evidence)
        yield found._replace(marker="compiled")


def _placed(body: Body, wasted: Wasted) -> Iterator[tuple[Span, tuple[str, str], tuple[Related, ...]]]:
    if wasted.how == "in-place":
        for _, span in wasted.past:
            yield span, (_FORWARD[0], _FORWARD[1].format(name=wasted.name)), ()
    elif wasted.how == "member" and wasted.known:
        for method, span in wasted.past:
            yield span, (_PAST[0].format(method=method), _PAST[1]), ()
    else:
        past = tuple(Related(span, f"`{method}` is called uncompiled here") for method, span in wasted.past)
        message, note = (one.format(name=wasted.name, given=wasted.given) for one in _MESSAGES[wasted.how])
        yield body.marked_at, (message, note), past


def _advice(body: Body, wasted: Wasted) -> str:
    if wasted.how == "in-place":
        return f"call the module: `{wasted.name}(...)`"
    if wasted.how == "of-torch":
        return f"keep a wrapper, and call that: `torch.compile({wasted.given})`"
    if wasted.how == "member" or (wasted.past and wasted.how == "unused"):
        method, held = wasted.past[0][0], wasted.name or wasted.given
        return f"compile the method: `{held}.{method} = torch.compile({held}.{method})`"
    if body.applied.target.kind is Kind.FUNCTION:
        return "keep the result and call it"
    return f"`{wasted.given}.compile()` compiles a module in place; or keep what `torch.compile` returns, and call that"


def fixes(context: Context) -> Iterator[Fix]:
    """Compile the module in place, or the methods that are called."""
    from nonstrict.fixes.marks import compiling

    yield from compiling.effective(context)


RULE = Rule(
    code="NST801",
    name="ineffective-compile",
    severity=Severity.ERROR,
    summary="Nothing is compiled: the result of torch.compile is unused or never called.",
    markers=INEFFECTIVE | COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.COMPILED),
)
