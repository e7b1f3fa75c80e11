"""NST807 overwritten-output: A result of a region with CUDA graphs is kept while a CUDA graph writes over it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.holding import Way
from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.contracts.regions.capturing import Limit
from nonstrict.program.domain.values import HOLDERS
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.regions.capturing import KeptResult
    from nonstrict.rules.base import Body

_NOTE = "the next run of a CUDA graph frees or overwrites it: a later use fails, or reads another result"
_COPY = "keep a copy: call `.clone()` on the result"
_COPIES = "keep a copy: call `.clone()` on each tensor of it"
_STEP = "begin a step for each round: `torch.compiler.cudagraph_mark_step_begin()`; a copy saves its numbers only"
_NOTES = {
    Limit.RUN: _NOTE,
    Limit.BACKWARD: f"once its backward pass has run, {_NOTE}",
    Limit.STEP: "`cudagraph_mark_step_begin()` begins a step: what is left of the one before is overwritten",
    Limit.NEVER: "torch keeps it for a backward pass, and runs without CUDA graphs as long; use `torch.no_grad()`",
}
#: torch's message says to mark steps, so that nobody may rely on it; and what only costs time is no error.
_MILD = frozenset({Limit.STEP, Limit.NEVER})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the places where results are kept too long."""
    for one in body.cuda_graphs.kept:
        severity = Severity.NOTE if one.limit in _MILD else None
        is_step = one.limit is Limit.BACKWARD and one.way is Way.GIVEN
        copies = _COPIES if one.kinds & HOLDERS else _COPY
        message, advice, note = _message(body, one), _STEP if is_step else copies, _NOTES[one.limit]
        is_near = one.made.line == one.seen.effect.span.line
        evidence = one.evidence if is_near else (Related(one.made, "computed here"), *one.evidence)
        found = report(RULE, body, one.seen, message, note=note, help=advice, severity=severity, evidence=evidence)
        yield found._replace(about=one.limit.name)


def _message(body: Body, one: KeptResult) -> str:
    region, name = f"`{body.function}`", f"`{one.name}`"
    if one.way is Way.GIVEN:
        return f"a result of {region} is passed to a region, whose CUDA graph overwrites it"
    if one.way is Way.OPERAND:
        return f"a result of {region} is overwritten before it is used: another operand runs a CUDA graph"
    if one.way is Way.VARIABLE:
        return f"{name} holds a result of {region} that is overwritten before it is used"
    held = f" in {name}" if one.name else ""
    return f"a result of {region} is kept{held} while a CUDA graph overwrites it"


def fixes(context: Context) -> Iterator[Fix]:
    """Keep a copy, or begin a step for each round."""
    from nonstrict.fixes.marks import steps
    from nonstrict.fixes.tensors.cloning import cloned

    yield from cloned(context)
    yield from steps.begun(context)


RULE = Rule(
    code="NST807",
    name="overwritten-output",
    severity=Severity.WARNING,
    summary="A result of a region with CUDA graphs is kept while a CUDA graph writes over it.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.OVERWRITTEN, traits=Trait.BETWEEN_CALLS),
)
