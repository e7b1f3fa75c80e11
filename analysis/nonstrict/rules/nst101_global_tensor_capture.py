"""NST101 global-tensor-capture.

A traced function reads a tensor through a module global instead of taking it as an argument.
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
    """Yield the reads of tensors that are reached through a module global."""
    yield from captured_tensors(RULE, body, of_globals=True)


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument, or build it where it is read."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.built import build_inside

    if context.body.marker == "leaf":
        return
    yield from pass_captured(context)
    yield from build_inside(context)


RULE = Rule(
    code="NST101",
    name="global-tensor-capture",
    severity=Severity.ERROR,
    summary="A traced function reads a tensor through a module global instead of taking it as an argument.",
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE, refusals=OF_CAPTURES),
    gathered="read global tensors",
    hint="frozen",
)
