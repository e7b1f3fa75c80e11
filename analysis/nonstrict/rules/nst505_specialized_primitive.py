"""NST505 specialized-primitive: A number, string or constant varies from call to call of a marked function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.program.domain.values import Kind
from nonstrict.program.objects.classes import external_bases
from nonstrict.rules.base import Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.expectation import Expectation, Experiment
from nonstrict.rules.frozen import is_traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.contracts.boundary.boundary_values import BoundaryArgument
    from nonstrict.program.contracts.boundary.varying import Variation
    from nonstrict.program.domain.values import Value
    from nonstrict.rules.base import Body

#: How often a region is compiled anew before `fullgraph=True` gives up (`torch._dynamo.config.recompile_limit`).
_LIMIT = 8
_TENSORS = frozenset({Kind.TENSOR, Kind.PARAMETER})
_CONTAINERS = frozenset({Kind.LIST, Kind.TUPLE, Kind.DICT, Kind.SET, Kind.DEQUE})
_INTEGERS = frozenset({"enum.IntEnum", "enum.IntFlag", "builtins.int"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the arguments that vary, where that fails or costs a compilation for each value."""
    if body.marker == "constant-result" and is_traced(body):
        return
    for argument in body.boundary_arguments:
        if argument.refused is not None or argument.site is None:
            continue
        if _is_integer_enum(argument.value) and body.marker != "constant-result":
            yield from _enumeration(body, argument)
            continue
        if argument.value.kind in _TENSORS:
            yield from _sizes(body, argument) if body.marker != "constant-result" else ()
            continue
        variation = body.variation(argument)
        if variation.kept:
            yield _kept(body, argument, variation)
        elif variation.values > 1 and body.marker != "constant-result":
            yield from _varying(body, argument, variation)


def _is_integer_enum(value: Value) -> bool:
    enums = (one.of_class for one in value.alternatives() if one.kind is Kind.SETTING)
    return any(external_bases(cls) & _INTEGERS for cls in enums if cls is not None)


def _enumeration(body: Body, argument: BoundaryArgument) -> Iterator[Finding]:
    uses = body.needs_class(argument.name)
    if uses:
        message = f"`{argument.name}` of `{called(body)}` is a member of an `IntEnum`, and arrives as a number"
        note = "`is`, `isinstance`, `.name` and `.value` do not work there"
        advice = "use a plain `Enum`, or compare with `==`"
        evidence = (Related(uses[0], "reads more than the number here"),)
        yield report_at(
            RULE, body, argument.span, message, note=note, help=advice, severity=Severity.ERROR, evidence=evidence
        )


def _sizes(body: Body, argument: BoundaryArgument) -> Iterator[Finding]:
    sizes = body.varying_sizes(argument)
    for span in body.hashed_sizes(argument.name, sizes):
        message = f"a size of `{argument.name}` is a lookup key: a dynamic size has no hash"
        note = f"a dynamic size is a symbolic integer: `{called(body)}` fails to compile"
        advice = "look it up in the caller and pass the result, or use `int()` and compile for each size"
        evidence = sizes.evidence
        yield report_at(RULE, body, span, message, note=note, help=advice, severity=Severity.ERROR, evidence=evidence)


def _kept(body: Body, argument: BoundaryArgument, variation: Variation) -> Finding:
    message = f"{variation.kept} varies between calls of the region"
    note = f"torch makes it a symbolic number, which {_holder(body)}: compilation fails from the second value on"
    advice = "return it among the children of flatten, or compile with `dynamic=False`"
    if body.marker == "constant-result":
        advice = "compute it in the compiled region, or compile with `dynamic=False`"
    severity = Severity.NOTE if body.applied.falls_back else Severity.ERROR
    evidence = variation.evidence
    return report_at(RULE, body, argument.span, message, note=note, help=advice, severity=severity, evidence=evidence)


def _holder(body: Body) -> str:
    if body.marker == "constant-result":
        return f"`{body.api}` does not take"
    return "its pytree context cannot hold"


def _varying(body: Body, argument: BoundaryArgument, variation: Variation) -> Iterator[Finding]:
    kind = "container" if variation.grows and argument.value.kind in _CONTAINERS else _sort(argument.value, variation)
    limited = kind in ("string", "constant", "container") or (variation.static and kind == "number")
    if variation.unrolled or not kind:
        return
    if limited and variation.values > _LIMIT:
        if variation.unlimited:
            return
        noun = "object" if kind == "constant" else kind
        differs = "has a different length" if kind == "container" else f"is a different {noun}"
        if variation.follows:
            differs = f"depends on `{variation.follows}`, which is a different string"
        message = f"`{argument.name}` of `{called(body)}` {differs} in every call"
        note = f"each one recompiles; with `fullgraph=True` compilation {_LIMIT + 1} fails (`recompile_limit`)"
        severity = Severity.NOTE if body.applied.falls_back else Severity.ERROR
        advice = "pass a tensor, or a number to a region compiled without `dynamic=False`"
        if kind == "container":
            advice = "pass one tensor, such as the stacked elements, or what the caller computes from them"
        evidence = variation.evidence
        yield report_at(
            RULE, body, argument.span, message, note=note, help=advice, severity=severity, evidence=evidence
        )
    elif kind in ("number", "unknown") and not variation.static:
        yield from _hashed(body, argument, variation)


def _hashed(body: Body, argument: BoundaryArgument, variation: Variation) -> Iterator[Finding]:
    uses = body.hashed(argument.name)
    for span in uses:
        message = f"`{argument.name}` of `{called(body)}` is a lookup key and varies between calls"
        note = "torch makes it a symbolic integer, which has no hash: compilation fails from the second value on"
        advice = "look it up in the caller and pass the result, or use `int()` and compile for each value"
        evidence = variation.evidence
        yield report_at(RULE, body, span, message, note=note, help=advice, severity=Severity.ERROR, evidence=evidence)
    if not uses and argument.value.kind is Kind.NUMBER:
        message = f"`{argument.name}` of `{called(body)}` varies between calls"
        note = "each value recompiles"
        yield report_at(RULE, body, argument.span, message, note=note, evidence=variation.evidence)


def _sort(value: Value, variation: Variation) -> str:
    """What the varying value is: `number`, `string`, `constant` (an object), `unknown`; "" for what does not matter."""
    if variation.follows:
        return "string"
    kinds = {one.kind for one in value.alternatives()}
    if Kind.UNKNOWN in kinds and variation.kinds:
        kinds = variation.kinds
    if kinds == {Kind.NUMBER}:
        return "number"
    if kinds == {Kind.STRING}:
        return "string"
    if kinds == {Kind.OBJECT}:
        return "constant"
    return "unknown" if kinds and kinds <= {Kind.UNKNOWN, Kind.NUMBER} else ""


RULE = Rule(
    code="NST505",
    name="specialized-primitive",
    severity=Severity.NOTE,
    summary="A number, string or constant varies from call to call of a marked function.",
    markers=frozenset({"nonstrict", "constant-result"}),
    examine=examine,
    expectation=Expectation(Experiment.REFUSAL),
    hint="specialised",
)
