"""NST804 recompilation: A region is recompiled because something that it uses differs between calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait
from nonstrict.rules.recompiling import changes, how_often

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what a region is compiled anew for a few times, or once."""
    for one in body.recompilations:
        if not one.limit:
            message = f"{changes(one)}: `{body.function}` is compiled {how_often(one)}"
            yield report(RULE, body, one.seen, message, evidence=one.evidence)


def fixes(context: Context) -> Iterator[Fix]:
    """Options under which torch does not compile it again, and tensors in the place of numbers."""
    from nonstrict.fixes.marks import marked_sizes, numbers_as_tensors, staying

    yield from staying.stays(context)
    yield from marked_sizes.marked(context)
    yield from numbers_as_tensors.passed(context)


RULE = Rule(
    code="NST804",
    name="recompilation",
    severity=Severity.NOTE,
    summary="A region is recompiled because something that it uses differs between calls.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.RECOMPILED, traits=Trait.BETWEEN_CALLS),
)
