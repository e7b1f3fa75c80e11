"""NST402 tensor-escape.

A traced function needs the data of a tensor as a Python value, which does not exist while tracing.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Taken
from nonstrict.findings import Severity
from nonstrict.rules.base import FROZEN, Rule, report, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.effect_texts import clause
from nonstrict.rules.expectation import Expectation, Experiment, Refusal
from nonstrict.rules.frozen import argument_data, is_traced, returns_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.events import How
    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_ADVICE = "keep the decision in tensors (`torch.where`, `torch.cond`), or return the tensor and decide in the caller"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the operations that need the data of a tensor as a Python value."""
    if body.marker == "constant-result":
        yield from _frozen(body) if not is_traced(body) else ()
        return
    for seen in body.observed(Event.ESCAPE):
        if seen.in_hook or body.knows_number(seen):
            continue
        how = seen.effect.how
        severity = RULE.severity
        if body.marker == "make-fx" and isinstance(how, Taken) and how.is_symbolic:
            if "make_fx" not in body.api or isinstance(seen.effect.node, ast.Slice):
                continue  # a slice takes the bound of the example, as what made it tells
            severity = Severity.WARNING
        message = f"{clause(seen.effect, 'needs tensor data')}: none exists at trace time"
        note = f"when `{body.api}` traces `{body.function}`, {_fate(body, how)}"
        yield report(RULE, body, seen, message, note=note, help=_ADVICE, severity=severity)


def _frozen(body: Body) -> Iterator[Finding]:
    """Yield what of a constant result depends on the data of arguments."""
    note = f"`{body.api}` keeps the result of the first call of `{called(body)}`, also when the data changes"
    advice = "compute it in the compiled region, or mark the function with `nonstrict_trace` and return a tensor"
    for seen, given in argument_data(body):
        whose = "the data of an argument" if given else "the data of parameters"
        message = f"{clause(seen.effect, 'reads')} {whose}, which nothing guards"
        severity = Severity.ERROR if given else Severity.WARNING
        yield report(RULE, body, seen, message, note=note, help=advice, severity=severity)
    for result in body.boundary_results:
        if returns_data(body, result.value):
            message = "this tensor is computed from the data of an argument, which nothing guards"
            yield report_at(RULE, body, result.span, message, note=note, help=advice)


def _fate(body: Body, how: How | None) -> str:
    if body.marker == "make-fx":
        return "tracing fails or bakes in the value of the example input"
    if how is Taken.TEXT:
        return "torch.compile fails or bakes in the text of a fake tensor"
    return "torch.compile fails with every backend"


def fixes(context: Context) -> Iterator[Fix]:
    """Keep the data in tensors."""
    from nonstrict.fixes.effects.checks import assert_in_graph
    from nonstrict.fixes.effects.removing import remove_unused
    from nonstrict.fixes.tensors.branches import choose
    from nonstrict.fixes.tensors.kept_branches import keep_by_data
    from nonstrict.fixes.tensors.returned import return_item, return_tensor
    from nonstrict.fixes.tensors.rewrites import clone, larger, sort_in_tensor
    from nonstrict.fixes.tensors.scalars import count_in_tensor, keep_tensor, sum_in_tensor

    yield from choose(context)
    yield from keep_by_data(context)
    yield from assert_in_graph(context)
    yield from keep_tensor(context)
    yield from return_item(context)
    yield from return_tensor(context)
    yield from count_in_tensor(context)
    yield from sum_in_tensor(context)
    yield from larger(context)
    yield from sort_in_tensor(context)
    yield from clone(context)
    yield from remove_unused(context)


RULE = Rule(
    code="NST402",
    name="tensor-escape",
    severity=Severity.ERROR,
    summary="A traced function needs the data of a tensor as a Python value, which does not exist while tracing.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(
        Experiment.REFUSAL, refusals=frozenset({Refusal.DATA_GUARD, Refusal.DATA_OUTPUT, Refusal.UNBACKED_SYMBOL})
    ),
    gathered="need the data of tensors",
)
