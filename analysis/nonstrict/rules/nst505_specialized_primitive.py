"""# specialized-primitive (NST505)

## What it does

Finds numbers, strings, constants and enumeration members that reach a marked function with a value that varies from
call to call:

- an integer that is used as the key of a dict or set, or as an argument of a cached function: error;
- the same of a size of a tensor that varies or is marked as dynamic: error;
- more than eight strings or constants, or numbers where the region is compiled with `dynamic=False`: error, and a note
  where the region may fall back to Python;
- a list or dict to which every round of a loop adds something, for more than eight rounds: error;
- a number that `register_pytree_node` keeps in the context of an object, or of which a function marked
  `assume_constant_result` makes its result: error;
- a member of an `IntEnum` of which the function asks more than its number: error;
- any other integer that varies: note.

## Why is this bad

Torch compiles for the first value. At the second an integer becomes symbolic, and a symbolic integer has no hash:
looking it up in a dict raises `TypeError: unhashable type: non-nested SymInt`, from the second value on. Strings and
constants are compiled for one by one; with `fullgraph=True` the ninth fails with `FailOnRecompileLimitHit`. A member of
an `IntEnum` arrives as a plain number: `is` and `isinstance` are false, `.name` does not exist. The context of a
flattened object and the arguments of a constant result take no symbolic number: torch refuses the call.

## Example

```python
import torch

GAINS = {1: 10.0, 2: 20.0, 3: 30.0}


@torch._dynamo.nonstrict_trace
def amplify(x, level):
    return x * GAINS[level]  # error: [NST505]


@torch.compile(fullgraph=True)
def step(x, level):
    return amplify(x, level) + 1


def main():
    for level in (1, 2, 3):
        print(step(torch.ones(3), level))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch

GAINS = {1: 10.0, 2: 20.0, 3: 30.0}


@torch._dynamo.nonstrict_trace
def amplify(x, gain):
    return x * gain


@torch.compile(fullgraph=True)
def step(x, gain):
    return amplify(x, gain) + 1


def main():
    for level in (1, 2, 3):
        print(step(torch.ones(3), GAINS[level]))


if __name__ == "__main__":
    main()
```

## Fix safety

There is no automatic fix.

## What is not reported

- Integers of which only one value was seen, and keys made with `int(level)`, which fixes the value.
- Strings of which it is not known that more than eight differ, and those of programs that set
  `torch._dynamo.config.recompile_limit` or reset the compiler between the calls.
- Integers as indices of lists, in ranges and in arithmetic, where they stay symbolic.
- Members of an `IntEnum` that are compared with `==`, looked up or used as numbers, and plain enumerations.

## References

- [Dynamic shapes](https://docs.pytorch.org/docs/stable/torch.compiler_dynamic_shapes.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.program.classes import external_bases
from nonstrict.program.values import Kind
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.frozen import is_traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.boundary.exchange import Taken
    from nonstrict.program.boundary.varying import Variation
    from nonstrict.program.values import Value
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
    for argument in body.taken:
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
    members = [one for one in value.alternatives() if one.kind is Kind.SETTING and hasattr(one.ref, "bases")]
    return any(external_bases(one.ref) & _INTEGERS for one in members)


def _enumeration(body: Body, argument: Taken) -> Iterator[Finding]:
    uses = body.needs_class(argument.name)
    if uses:
        message = (
            f"`{argument.name}` of `{called(body)}` is a member of an `IntEnum`, which arrives as a plain number: "
            "`is`, `isinstance`, `.name` and `.value` do not work there"
        )
        advice = "use a plain `Enum`, or compare with `==`"
        evidence = (Related(uses[0], "asks for more than the number here"),)
        yield report_at(RULE, body, argument.span, message, help=advice, severity=Severity.ERROR, evidence=evidence)


def _sizes(body: Body, argument: Taken) -> Iterator[Finding]:
    sizes = body.varying_sizes(argument)
    for span in body.hashed_sizes(argument.name, sizes):
        message = (
            f"a size of `{argument.name}` of `{called(body)}` is a symbolic integer where it is dynamic, which has no "
            "hash: this lookup fails to compile"
        )
        advice = "look it up in the caller and pass the result, or use `int()` and compile for each size"
        yield report_at(RULE, body, span, message, help=advice, severity=Severity.ERROR, evidence=sizes.evidence)


def _kept(body: Body, argument: Taken, variation: Variation) -> Finding:
    message = (
        f"{variation.kept} varies between calls of the region, so torch makes it a symbolic number, which "
        f"{_holder(body)}: from its second value on compiling fails"
    )
    advice = "let flatten return it among the children, or compile with `dynamic=False`"
    if body.marker == "constant-result":
        advice = "compute it in the compiled region, or compile with `dynamic=False`"
    severity = Severity.NOTE if body.applied.falls_back else Severity.ERROR
    return report_at(RULE, body, argument.span, message, help=advice, severity=severity, evidence=variation.evidence)


def _holder(body: Body) -> str:
    if body.marker == "constant-result":
        return f"`{body.api}` does not take"
    return "the context that its registration keeps it in cannot hold"


def _varying(body: Body, argument: Taken, variation: Variation) -> Iterator[Finding]:
    kind = "container" if variation.grows and argument.value.kind in _CONTAINERS else _sort(argument.value, variation)
    limited = kind in ("string", "constant", "container") or (variation.static and kind == "number")
    if variation.unrolled or not kind:
        return
    if limited and variation.values > _LIMIT:
        if variation.unlimited:
            return
        noun = "object" if kind == "constant" else kind
        differs = "has another length" if kind == "container" else f"is another {noun}"
        if variation.follows:
            differs = f"follows from `{variation.follows}`, which is another string"
        message = (
            f"`{argument.name}` of `{called(body)}` {differs} in every call, and each is compiled for: with "
            f"`fullgraph=True` more than {_LIMIT} fail at the recompile limit"
        )
        severity = Severity.NOTE if body.applied.falls_back else Severity.ERROR
        advice = "pass a tensor, or a number to a region that may be dynamic"
        if kind == "container":
            advice = "pass one tensor, such as the stacked elements, or what the caller computes of them"
        yield report_at(RULE, body, argument.span, message, help=advice, severity=severity, evidence=variation.evidence)
    elif kind in ("number", "unknown") and not variation.static:
        yield from _hashed(body, argument, variation)


def _hashed(body: Body, argument: Taken, variation: Variation) -> Iterator[Finding]:
    uses = body.hashed(argument.name)
    for span in uses:
        message = (
            f"`{argument.name}` of `{called(body)}` varies between calls, so torch makes it a symbolic integer, which "
            "has no hash: from its second value on this lookup fails to compile"
        )
        advice = "look it up in the caller and pass the result, or use `int()` and compile for each value"
        yield report_at(RULE, body, span, message, help=advice, severity=Severity.ERROR, evidence=variation.evidence)
    if not uses and argument.value.kind is Kind.NUMBER:
        message = f"`{argument.name}` of `{called(body)}` varies between calls: torch compiles for its values anew"
        yield report_at(RULE, body, argument.span, message, evidence=variation.evidence)


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
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "constant-result"}),
    examine=examine,
    experiment=Experiment.REFUSAL,
)
