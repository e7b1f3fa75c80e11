"""NST804 recompilation: A region is compiled again, as something that it uses is not the same in all calls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment
from nonstrict.rules.recompiling import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.regions.recompilations import Recompilation
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what a region is compiled anew for a few times, or once."""
    for one in body.recompilations:
        if not one.limit:
            message = f"{changes(one)}: `{body.function}` is compiled {_how_often(one)}"
            yield report(RULE, body, one.seen, message, evidence=one.evidence)


def _how_often(one: Recompilation) -> str:
    if 2 < one.compilations == one.values or (one.settles and one.compilations > 2):
        return f"{one.compilations} times"
    return "twice" if one.settles else "for each"  # there may be more than are seen


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
    summary="A region is compiled again, as something that it uses is not the same in all calls.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.RECOMPILED),
)
