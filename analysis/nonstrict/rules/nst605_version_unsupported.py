"""NST605 version-unsupported: The installed torch has no marker of this name, or does not support it for this use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.knowledge.markers import LEAF_COMPILES, MARKERS, since, spellings
from nonstrict.program.contracts.marks.unattached import ABSENT
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.conflicts import conflict_of
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what the torch at hand lacks."""
    yield from _missing(body)
    if body.marker == "leaf" and body.torch < LEAF_COMPILES and conflict_of(body) is None:
        yield from _leaf(body)


def _missing(body: Body) -> Iterator[Finding]:
    spelling = body.applied.spelling
    marker = MARKERS.get(spelling)
    if marker is None or marker.since is None or body.torch >= since(marker.since):
        return
    if body.marker != ABSENT and body.applied.is_guarded:
        return
    others = spellings(marker.kind, body.torch)
    has = ".".join(map(str, body.torch))
    message, note = f"torch {has} has no `{spelling}`", f"it exists from torch {marker.since} on"
    advice = f"use `{others[0]}`" if others else f"require torch {marker.since}"
    found = report_at(RULE, body, body.marked_at, message, note=note, help=advice)
    yield found._replace(function="", marker=marker.kind) if body.marker == ABSENT else found


def _leaf(body: Body) -> Iterator[Finding]:
    calls = body.applied.compiled_calls
    if calls and all(call.backend != "inductor" for call in calls):
        return
    has = ".".join(map(str, body.torch))
    message = f"inductor cannot compile a leaf function in torch {has}"
    note = "it is the default backend, and fails with an assertion"
    advice = "use a `torch.library.custom_op` with `register_fake`, or compile with `backend='aot_eager'`"
    severity = Severity.ERROR if calls else Severity.NOTE
    yield report_at(RULE, body, body.marked_at, message, note=note, help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Use what the torch at hand has."""
    from nonstrict.fixes.marks.markers import replace_missing
    from nonstrict.fixes.operators.wrapping import leaf_as_custom_op

    yield from replace_missing(context)
    if context.body.marker == "leaf":
        yield from leaf_as_custom_op(context)


RULE = Rule(
    code="NST605",
    name="version-unsupported",
    severity=Severity.ERROR,
    summary="The installed torch has no marker of this name, or does not support it for this use.",
    markers=frozenset({"nonstrict", "in-graph", "constant-result", "leaf", "custom-op", "make-fx", ABSENT}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.IN_MARKERS),
)
