"""NST302 generator-argument: A torch.Generator is passed to a marked function, which torch.compile refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.contracts.boundary.pytree_support import holds_generator
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Span
    from nonstrict.rules.base import Body

#: Annotations that leave a generator possible; "" is none, or a union.
_OPEN = frozenset({"", "torch.Generator", "torch._C.Generator", "typing.Optional", "typing.Union", "typing.Any"})
_ADVICE = "draw in the caller and pass the tensor, or let the function read a global generator"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the generators passed at compiled call sites, or the parameters that ask for one if no call is known."""
    if body.parameters and all(parameter.annotation not in _OPEN for parameter in body.parameters):
        return
    for span, name in _passed(body) if body.sites else _asked_for(body):
        message = f"`{name}` of `{called(body)}` is a torch.Generator, which torch.compile refuses"
        yield report_at(RULE, body, span, message, help=_ADVICE)


def _passed(body: Body) -> Iterator[tuple[Span, str]]:
    passed = (argument for argument in body.boundary_arguments if argument.site is not None)
    yield from {one.span: one.name for one in passed if holds_generator(one.value)}.items()


def _asked_for(body: Body) -> Iterator[tuple[Span, str]]:
    for parameter in body.parameters:
        if not parameter.has_default and parameter.annotation in {"torch.Generator", "torch._C.Generator"}:
            yield parameter.span, parameter.name


RULE = Rule(
    code="NST302",
    name="generator-argument",
    severity=Severity.ERROR,
    summary="A torch.Generator is passed to a marked function, which torch.compile refuses.",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL),
)
