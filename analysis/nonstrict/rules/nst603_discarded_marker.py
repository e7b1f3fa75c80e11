"""NST603 discarded-marker: The function that a marker returns is not used, so nothing is marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.contracts.marks.unattached import DROPPED
from nonstrict.rules.base import Rule, Tag, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the marker if nothing keeps what it returns."""
    if body.marker == DROPPED or body.applied.is_dropped:
        name = body.function.rpartition(".")[2]
        message = f"the result of `{body.api}({name})` is unused: `{name}` is not marked"
        advice = f"keep the result: `{name} = {body.api}({name})`, or use it as a decorator"
        note = "compiled regions trace it like any function"
        found = report_at(RULE, body, body.marked_at, message, note=note, help=advice)
        yield found._replace(function="", marker="nonstrict") if body.marker == DROPPED else found


def fixes(context: Context) -> Iterator[Fix]:
    """Bind the result to the name of the function."""
    from nonstrict.fixes.marks.rebinding import rebind

    yield from rebind(context)


RULE = Rule(
    code="NST603",
    name="discarded-marker",
    severity=Severity.WARNING,
    summary="The function that a marker returns is not used, so nothing is marked.",
    markers=frozenset({"nonstrict", "leaf", DROPPED}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    tag=Tag.UNNECESSARY,
)
