"""NST509 tensor-subclass-argument.

A plain tensor subclass is passed to a marked function, which then computes with a plain tensor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.facts.fields import mentions
from nonstrict.findings import Severity
from nonstrict.program.objects.classes import external_bases, lineage
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import OF_ARGUMENTS, Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body


#: The first version measured to keep the class with aot_eager; with inductor 2.15.0 drops it too.
_KEPT_BY_AOT_EAGER = (2, 15)
#: What the text of a wrapper subclass mentions.
_WRAPPERS = frozenset({"__torch_dispatch__", "_make_wrapper_subclass"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the arguments that are plain tensor subclasses."""
    for argument in body.boundary_arguments:
        name = next((found for one in argument.value.alternatives() if (found := _subclass(one))), "")
        if not name:
            continue
        message = f"`{argument.name}` of `{called(body)}` is a `{name}`, a plain subclass of torch.Tensor"
        advice = "pass it `.as_subclass(torch.Tensor)`, or implement `__torch_dispatch__`"
        yield report_at(RULE, body, argument.span, message, note=_fate(body), help=advice)


def _fate(body: Body) -> str:
    if body.torch >= _KEPT_BY_AOT_EAGER:
        return "compiled with inductor, the default backend, the function computes with a plain tensor and returns one"
    return "compiled, the function computes with a plain tensor and returns one; with aot_eager it fails"


def _subclass(value: Value) -> str:
    """The name of the plain tensor subclass that a value is of; "" if it is of none."""
    cls = value.of_class
    if not value.is_tensor or cls is None:
        return ""
    if any(base.endswith(("Parameter", "Buffer")) for base in external_bases(cls)):
        return ""
    wraps = any(mentions(base.node, _WRAPPERS) for base in lineage(cls) if not isinstance(base, str))
    plain = external_bases(cls) <= {"torch.Tensor", "torch._tensor.Tensor", "builtins.object", "typing.Generic"}
    return cls.name if plain and not wraps else ""


RULE = Rule(
    code="NST509",
    name="tensor-subclass-argument",
    severity=Severity.WARNING,
    summary="A plain tensor subclass is passed to a marked function, which then computes with a plain tensor.",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL, refusals=OF_ARGUMENTS),
)
