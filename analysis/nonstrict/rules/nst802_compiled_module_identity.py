"""NST802 compiled-module-identity.

The compiled module is used as if it were the original one: its state, its class.
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
    from nonstrict.program.domain.misapplied import Misuse
    from nonstrict.rules.base import Body

_ADVICE = "compile the module in place, with `module.compile()`: its class stays the same"
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
        message, note = _told(misuse)
        found = report_at(
            RULE, body, misuse.span, message, note=note, help=_ADVICE, severity=severity, evidence=evidence
        )
        yield found._replace(marker="compiled")


def _told(misuse: Misuse) -> tuple[str, str]:
    """The message and the note."""
    if misuse.how == "isinstance":
        note = f"it is an `OptimizedModule` that wraps the `{misuse.text}`"
        return "`isinstance` is false for a compiled module", note
    if misuse.how == "saved":
        note = "its keys begin with `_orig_mod.`, and do not match the module itself"
        return "the state dict of a compiled module is saved", note
    refused = "loading fails" if misuse.strict else "with `strict=False` nothing is loaded, silently"
    if misuse.how == "plain-into-wrapper":
        note = f"the keys of the compiled module begin with `_orig_mod.`, those of the state dict do not: {refused}"
        return "the state dict of a plain module is loaded into a compiled module", note
    note = f"the keys of the state dict begin with `_orig_mod.`: {refused}"
    return "the state dict of a compiled module is loaded into a plain module", note


def fixes(context: Context) -> Iterator[Fix]:
    """Compile the module in place."""
    from nonstrict.fixes.marks import compiling

    yield from compiling.in_place(context)


RULE = Rule(
    code="NST802",
    name="compiled-module-identity",
    severity=Severity.WARNING,
    summary="The compiled module is used as if it were the original one: its state, its class.",
    markers=WRAPPED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.IDENTITY),
)
