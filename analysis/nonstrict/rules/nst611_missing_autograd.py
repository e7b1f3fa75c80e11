"""NST611 missing-autograd: Gradients are required of a custom operator that has no formula for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Gradient
from nonstrict.findings import Severity
from nonstrict.program.contracts.marks.tensor_forms import Forms, tensors_in
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.contracts.marks.differentiated import Need
    from nonstrict.program.domain.definitions import Operator
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the declaration of an operator without a formula for autograd that gradients are asked of."""
    operator, declared_at = body.applied.operator, body.applied.declared_at
    if operator is None or declared_at is None or not _may_need_formula(operator) or not _gives_floats(body):
        return
    if body.applied.may_have_formula():
        return
    needs = _counting(operator, body.applied.needs)
    if not needs:
        return
    sure = any(need.how in (Gradient.BACKWARD, Gradient.REGION) for need in needs)
    name = operator.name or body.function
    message = f"custom operator `{name}` has no autograd formula"
    evidence = tuple(dict.fromkeys(need.at for need in needs))[:_SHOWN]
    severity = Severity.ERROR if sure else Severity.NOTE
    yield report_at(RULE, body, declared_at, message, help=_ADVICE, severity=severity, evidence=evidence)


_SHOWN = 3
_ADVICE = "register one with `torch.library.register_autograd`, or call the operator under `torch.no_grad()`"


def _may_need_formula(operator: Operator) -> bool:
    """Whether torch takes a formula for the operator, and does not look through it."""
    if operator.api == "leaf_function" or operator.mutates != frozenset() or operator.inplace:
        return False
    return operator.api == "triton_op" or not operator.traced


def _counting(operator: Operator, needs: tuple[Need, ...]) -> list[Need]:
    """The needs that count: what is declared by a schema is differentiated through in plain Python."""
    if operator.api != "define":
        return list(needs)
    return [need for need in needs if need.how is Gradient.REGION]


def _gives_floats(body: Body) -> bool:
    """Whether a result may be a tensor that can require gradients, as the operator and its fakes tell."""
    results = [one for one in body.returned.alternatives() if one.kind is not Kind.NONE]
    if results and all(one.kind in _NO_TENSORS or one.flags & Flag.BOOLEAN for one in results):
        return False
    return not any(_returns_whole_numbers(one) for one in (body, *body.applied.fakes))


def _returns_whole_numbers(body: Body) -> bool:
    """Whether all tensors that a function returns surely are of dtypes without gradients."""
    applied = body.applied
    if applied.node is None:
        return False
    forms = Forms(applied.node, applied.names)
    dtypes = [forms.of(tensor).dtype for result in applied.returned() for tensor in tensors_in(result)]
    return bool(dtypes) and all(dtype in _WHOLE for dtype in dtypes)


#: Dtypes whose tensors cannot require gradients.
_WHOLE = frozenset({"int64", "int32", "int16", "int8", "uint8", "uint16", "uint32", "bool"})
_NO_TENSORS = frozenset({Kind.NUMBER, Kind.BOOL, Kind.STRING, Kind.SIZE})

RULE = Rule(
    code="NST611",
    name="missing-autograd",
    severity=Severity.ERROR,
    summary="Gradients are required of a custom operator that has no formula for them.",
    markers=frozenset({"custom-op"}),
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL),
)
