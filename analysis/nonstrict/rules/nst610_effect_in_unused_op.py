"""# effect-in-unused-op (NST610)

## What it does

Finds calls of a custom operator for what it does in Python (printing, writing to a file, counting, raising): its result
is not used, and it declares no argument as changed.

## Why is this bad

An operator without a declared mutation computes its result and nothing else, as far as the compiler knows. If nothing
uses the result, or there is none, the call is removed as dead code, on every backend, and its effect with it.

## Example

```python
import torch


@torch.library.custom_op("example::log", mutates_args=())
def log(x: torch.Tensor) -> None:
    print("sum", x.sum().item())


@log.register_fake
def _(x):
    return None


@torch.compile(fullgraph=True)
def step(x):
    log(x)  # warning: [NST610]
    return x * 2


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch.library.custom_op("example::log", mutates_args=("x",))
def log(x: torch.Tensor) -> None:
    print("sum", x.sum().item())


@torch.compile(fullgraph=True)
def step(x):
    log(x)
    return x * 2


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

Or use the result, or register the effect: `log.register_effect(torch.library.EffectType.ORDERED)`.

## Fix safety

The first tensor of an operator that returns nothing is declared as changed, which keeps the call: unsafe, as compiled
code then reads that tensor anew after the call. An operator that returns something has no automatic fix: use the
result.

## What is not reported

- Operators that declare a mutation or register an effect.
- Calls outside compiled regions and marked functions.
- Leaf functions, whose calls are kept.

## References

- [torch.library.custom_op](https://docs.pytorch.org/docs/stable/library.html#torch.library.custom_op)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.effects import Event
from nonstrict.program.values import Kind
from nonstrict.rules.base import COMPILED, TRACED, Experiment, Rule, report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_TEXTS = {
    Event.IO: "input or output",
    Event.WRITE: "a change of Python state",
    Event.LEAK: "a change of Python state",
    Event.THREAD: "work for another thread",
    Event.RAISE: "an exception",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls of operators that are removed together with their effect."""
    for seen in body.observed(Event.DROPPED):
        operator = seen.effect.value.ref.operator
        if operator.mutates != frozenset() or operator.effectful or operator.traced:
            continue
        if operator.api == "leaf_function":
            continue
        called = body.applied.implementation(seen.effect.value)
        what = _effect(called)
        if not what:
            continue
        name = called.function.rpartition(".")[2]
        message = (
            f"`{name}` is called for its effect ({what}): its result is not used and it declares no mutation, so the "
            "compiler removes the call"
        )
        advice = "declare an argument in `mutates_args`, use the result, or register the effect"
        yield report(RULE, body, seen, message, help=advice)


def _effect(called: Body) -> str:
    """What an operator does beside computing; raising counts where it computes nothing."""
    for event, text in _TEXTS.items():
        if event is Event.RAISE and called.returned.kind is not Kind.NONE:
            continue
        if any(True for _ in called.observed(event)):
            return text
    return ""


def fixes(context: Context) -> Iterator[Fix]:
    """Declare an argument as changed."""
    from nonstrict.fixes.operators.declaring import declare_an_argument

    yield from declare_an_argument(context)


RULE = Rule(
    code="NST610",
    name="effect-in-unused-op",
    severity=Severity.WARNING,
    summary="A custom operator is called for its Python effect only, and removed as dead code.",
    documentation=__doc__ or "",
    markers=COMPILED | TRACED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.EFFECT,
)
