"""NST604 deprecated-marker: allow_in_graph is superseded by nonstrict_trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.rules.base import Rule, Tag, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_SINCE = (2, 12)
_PUBLIC_SINCE = (2, 14)


def examine(body: Body) -> Iterator[Finding]:
    """Yield every use of `allow_in_graph`."""
    if body.torch < _SINCE:
        return
    where = "torch.compiler" if body.torch >= _PUBLIC_SINCE else "torch._dynamo"
    message = "`allow_in_graph` is superseded by `nonstrict_trace`"
    note = "the latter takes modules and registered classes too"
    advice = f"use `{where}.nonstrict_trace`, and keep the function that it returns"
    yield report_at(RULE, body, body.marked_at, message, note=note, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Use `nonstrict_trace`."""
    from nonstrict.fixes.marks.markers import replace_deprecated

    yield from replace_deprecated(context)


RULE = Rule(
    code="NST604",
    name="deprecated-marker",
    severity=Severity.NOTE,
    summary="allow_in_graph is superseded by nonstrict_trace.",
    markers=frozenset({"in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    tag=Tag.DEPRECATED,
)
