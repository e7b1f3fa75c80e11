"""NST802 compiled-module-identity.

What torch.compile made of a module is taken for the module: its state, its class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.rules.base import WRAPPED, Rule, report_at
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.regions.misapplied import Misuse
    from nonstrict.rules.base import Body

_ADVICE = "compile the module in place, with `module.compile()`: it stays what it is"
_OTHERS = {
    "saved": "saved here",
    "plain-into-wrapper": "the state comes from here",
    "wrapper-into-plain": "the state comes from here",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the places where the wrapper is taken for the module."""
    for misuse in body.applied.misused:
        severity = Severity.ERROR if misuse.how in ("plain-into-wrapper", "wrapper-into-plain") else Severity.WARNING
        evidence = (Related(misuse.other, _OTHERS[misuse.how]),) if misuse.other is not None else ()
        found = report_at(RULE, body, misuse.span, _message(misuse), help=_ADVICE, severity=severity, evidence=evidence)
        yield found._replace(marker="compiled")


def _message(misuse: Misuse) -> str:
    if misuse.how == "isinstance":
        return (
            f"`isinstance` is false: `torch.compile` returns an `OptimizedModule` around the `{misuse.text}`, and no "
            f"`{misuse.text}`"
        )
    if misuse.how == "saved":
        return (
            "the state of what `torch.compile` returned is saved: its keys begin with `_orig_mod.`, and do not fit the "
            "module itself"
        )
    refused = "it is refused" if misuse.strict else "with `strict=False` nothing of it is loaded, without a word"
    if misuse.how == "plain-into-wrapper":
        return (
            f"the keys of the wrapper of `torch.compile` begin with `_orig_mod.`, those of this state do not: {refused}"
        )
    return f"the keys of this state begin with `_orig_mod.`, as it is that of what `torch.compile` returned: {refused}"


def fixes(context: Context) -> Iterator[Fix]:
    """Compile the module in place."""
    from nonstrict.fixes.marks import compiling

    yield from compiling.in_place(context)


RULE = Rule(
    code="NST802",
    name="compiled-module-identity",
    severity=Severity.WARNING,
    summary="What torch.compile made of a module is taken for the module: its state, its class.",
    markers=WRAPPED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.IDENTITY),
)
