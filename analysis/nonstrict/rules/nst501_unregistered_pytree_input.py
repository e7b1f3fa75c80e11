"""NST501 unregistered-pytree-input: A marked function gets an argument of a type that torch does not take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import OF_ARGUMENTS, Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the arguments of refused types."""
    severity = Severity.NOTE if body.applied.falls_back else None
    for argument in body.boundary_arguments:
        refused = argument.refused
        if refused is None:
            continue
        evidence = (Related(refused.defined, "the class is defined here"),) if refused.defined is not None else ()
        message, note = _message(body, argument), "torch.compile refuses it as an argument"
        yield report_at(
            RULE, body, argument.span, message, note=note, help=refused.advice, evidence=evidence, severity=severity
        )


def _message(body: Body, argument: BoundaryArgument) -> str:
    what = argument.refused.what if argument.refused is not None else ""
    if argument.name == "self":
        return f"`self` of the marked method `{called(body)}` is {what}"
    subject = f"argument `{argument.name}`" if argument.name else "this argument"
    return f"{subject} of `{called(body)}` is {what}"


def fixes(context: Context) -> Iterator[Fix]:
    """Register the class, leave out the None, pass it as a tuple, or use a marker that takes the argument."""
    from nonstrict.fixes.boundary.crossing import leave_out
    from nonstrict.fixes.boundary.registering import register_argument
    from nonstrict.fixes.boundary.sequences import pass_slice, pass_tuple
    from nonstrict.fixes.marks.markers import replace_refusing

    yield from leave_out(context)
    yield from pass_tuple(context)
    yield from pass_slice(context)
    yield from replace_refusing(context)
    yield from register_argument(context)


RULE = Rule(
    code="NST501",
    name="unregistered-pytree-input",
    severity=Severity.ERROR,
    summary="A marked function gets an argument of a type that torch does not take.",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, refusals=OF_ARGUMENTS),
)
