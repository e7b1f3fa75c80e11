"""NST102 closure-tensor-capture.

A traced function reads a tensor from its closure, a default argument, a partial or a bound object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import FROZEN, Rule
from nonstrict.rules.captured_tensors import captured_tensors
from nonstrict.rules.expectation import OF_CAPTURES, Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the reads of tensors from closures, defaults, partials and bound receivers."""
    yield from captured_tensors(RULE, body, of_globals=False)


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default

    if context.body.marker == "leaf":
        return
    yield from pass_captured(context)
    yield from pass_attribute(context)
    yield from pass_default(context)
    yield from pass_bound(context)


RULE = Rule(
    code="NST102",
    name="closure-tensor-capture",
    severity=Severity.ERROR,
    summary="A traced function reads a tensor from its closure, a default argument, a partial or a bound object.",
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE, refusals=OF_CAPTURES),
    gathered="read captured tensors",
    hint="frozen",
)
