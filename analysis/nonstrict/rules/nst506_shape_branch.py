"""NST506 shape-branch: A branch on the shape of a tensor is decided while tracing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Decision, Event
from nonstrict.findings import Severity
from nonstrict.rules.base import COMPILED, TRACED, Rule, report
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment, Refusal, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Observed
    from nonstrict.rules.base import Body

#: Exported programs check the shapes they get.
_KEPT = "branch on a shape: the graph keeps the branch of the traced shape"
_COMPILED_ANEW = "branch on a shape: other shapes recompile"
_CHECKED = frozenset({"export", "draft_export", "export_for_training"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the branches on shapes; of regions what contradicts `mark_dynamic`: others are compiled anew (NST804)."""
    if body.marker in COMPILED:
        yield from _of_region(body)
        return
    for seen in body.observed(Event.SHAPE):
        checks = seen.effect.how is Decision.CHECK
        contradicted = body.contradicted(seen)
        if contradicted:
            advice = "do not mark the dimension as dynamic, or do not compare it with one size"
            yield _contradiction(body, seen, contradicted, advice, Severity.ERROR if checks else Severity.WARNING)
        elif checks or body.kept_by_size(seen.effect):
            continue
        elif body.marker == "make-fx" and body.api not in _CHECKED:
            note = f"the graph that `{body.api}` makes of `{called(body)}` is silently wrong for other shapes"
            severity = Severity.NOTE if body.private else Severity.WARNING
            advice = "use `torch.cond`, or trace once for each shape"
            yield report(RULE, body, seen, _KEPT, note=note, help=advice, severity=severity)
        else:
            note = f"each compilation of `{called(body)}` covers the shapes of one branch"
            advice = "use `torch.cond` to keep both branches in one graph"
            yield report(RULE, body, seen, _COMPILED_ANEW, note=note, help=advice)


def _of_region(body: Body) -> Iterator[Finding]:
    for seen in body.observed(Event.SHAPE, Event.GUARD):
        if contradicted := body.contradicted(seen):
            advice = "use `maybe_mark_dynamic`, or do not use the size as a constant"
            yield _contradiction(body, seen, contradicted, advice, Severity.ERROR)


def _contradiction(
    body: Body, seen: Observed, contradicted: tuple[Related, ...], advice: str, severity: Severity
) -> Finding:
    message = f"this specializes a dimension that a caller of `{called(body)}` marks as dynamic"
    note = "compilation fails with ConstraintViolationError"
    return report(RULE, body, seen, message, note=note, help=advice, severity=severity, evidence=contradicted)


def fixes(context: Context) -> Iterator[Fix]:
    """Keep both branches with `torch.cond`, where that does."""
    from nonstrict.fixes.tensors.kept_branches import keep_by_size

    yield from keep_by_size(context)


RULE = Rule(
    code="NST506",
    name="shape-branch",
    severity=Severity.NOTE,
    summary="A branch on the shape of a tensor is decided while tracing.",
    markers=TRACED | COMPILED,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(
        Experiment.REFUSAL,
        refusals=frozenset({Refusal.DATA_GUARD, Refusal.CONSTRAINT}),
        traits=Trait.SILENT | Trait.BRANCHES,
    ),
    hint="decided once",
)
