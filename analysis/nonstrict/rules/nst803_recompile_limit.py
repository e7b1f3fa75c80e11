"""NST803 recompile-limit: A region is recompiled for value after value, until torch stops compiling it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait
from nonstrict.rules.recompiling import changes, use_instead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what takes more values than torch compiles one region for."""
    for one in body.recompilations:
        if one.limit:
            follows = (
                f"torch gives up on `{body.function}`" if one.refused else f"`{body.function}` is recompiled each time"
            )
            message = f"{changes(one)}: {follows}"
            error = "Unsupported" if one.refused else "FailOnRecompileLimitHit"
            end = f"torch raises `{error}`" if body.fullgraph else "it stays in eager mode"
            note = f"after {_counted(one.compilations)} {end}"
            severity = Severity.ERROR if body.fullgraph else Severity.WARNING
            advice, evidence = use_instead(one), one.evidence
            yield report(RULE, body, one.seen, message, note=note, help=advice, severity=severity, evidence=evidence)


def _counted(number: int) -> str:
    return "one compilation" if number == 1 else f"{number} compilations"


def fixes(context: Context) -> Iterator[Fix]:
    """Options and marks under which torch does not compile it again, and other ways for what varies to get there."""
    from nonstrict.fixes.effects.returning import return_value
    from nonstrict.fixes.marks import (
        entries_as_arguments,
        marked_sizes,
        numbers_as_arguments,
        numbers_as_tensors,
        staying,
    )

    yield from staying.stays(context)
    yield from marked_sizes.marked(context)
    yield from numbers_as_tensors.passed(context)
    yield from numbers_as_arguments.passed(context)
    yield from entries_as_arguments.looked_up(context)
    yield from return_value(context)


RULE = Rule(
    code="NST803",
    name="recompile-limit",
    severity=Severity.WARNING,
    summary="A region is recompiled for value after value, until torch stops compiling it.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.LIMIT, traits=Trait.BETWEEN_CALLS),
)
