"""NST606 missing-fake: A leaf function or custom operator has no fake, so that no compiled region can call it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.domain.values import Kind
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.conflicts import conflict_of
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the declaration of an operator or leaf function that has no fake."""
    operator, declared_at = body.applied.operator, body.applied.declared_at
    if operator is None or declared_at is None or operator.has_fake or operator.traced or operator.inplace:
        return
    if operator.api != "leaf_function" and not operator.name:
        return
    if operator.mutates != frozenset() and _returns_nothing(body, operator.schema):
        return
    if conflict_of(body) is not None or body.applied.may_be_faked_elsewhere():
        return
    if operator.api == "leaf_function":
        message, note = f"leaf function `{body.function}` has no fake", "every call of it raises"
    else:
        message, note = f"custom operator `{operator.name}` has no fake", "no compiled region can call it"
    yield report_at(RULE, body, declared_at, message, note=note, help=_advice(operator.api, body.function))


def _returns_nothing(body: Body, schema: str) -> bool:
    if schema:
        return schema.rpartition("->")[2].strip() == "()"
    return body.returned.kind is Kind.NONE


def _advice(api: str, function: str) -> str:
    name = function.rpartition(".")[2]
    if api == "define":
        return "register one with `torch.library.register_fake`; it returns empty tensors like those of the operator"
    return f"add `@{name}.register_fake` on a function that takes the same arguments and returns empty tensors like it"


def fixes(context: Context) -> Iterator[Fix]:
    """Register a fake."""
    from nonstrict.fixes.operators.declaring import with_fake

    yield from with_fake(context)


RULE = Rule(
    code="NST606",
    name="missing-fake",
    severity=Severity.ERROR,
    summary="A leaf function or custom operator has no fake, so that no compiled region can call it.",
    markers=frozenset({"leaf", "custom-op"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.REFUSAL, traits=Trait.OPERATOR | Trait.IN_MARKERS, opcheck="test_faketensor"),
)
