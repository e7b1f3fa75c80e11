"""# outer-mutation (NST203)

## What it does

Finds traced functions that write Python state outside of them: a global, a variable of the enclosing function, a global
list or dict, a function attribute, a class attribute, a mutable default argument, an object they did not get as an
argument. State written by a dispatch mode that the function enters counts too.

## Why is this bad

The function's Python code runs while the compiler traces it, three times for each compilation on torch 2.13, and
never when the compiled code runs. A call counter ends at 3 after any number of calls. If the function reads the state
back, the value of the last trace is frozen into the graph. There is no error.

## Example

```python
import torch

calls = 0


@torch._dynamo.nonstrict_trace
def scale(x):
    global calls
    calls += 1  # error: [NST203]
    return x * 2


@torch.compile(fullgraph=True)
def forward(x):
    return scale(x)


def main():
    for _ in range(2):
        forward(torch.ones(3))
    print(calls, "calls")


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch

calls = 0


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * 2


@torch.compile(fullgraph=True)
def forward(x):
    global calls
    calls += 1
    return scale(x)


def main():
    for _ in range(2):
        forward(torch.ones(3))
    print(calls, "calls")


if __name__ == "__main__":
    main()
```

Dynamo tracks writes in the compiled region itself and repeats them at every call.

## Fix safety

The change moves to the calls of the function: unsafe, as callers that were not seen do not do it. What the function
computes for it becomes a further result. Only for `append`, an assignment or `+=` at the level of the body whose effect
nothing in the function sees afterwards, or that comes first in it, and where every use of the function is a plain call.

A compiled region does it itself if that compiles once, as an assignment does, or if the region reads the state anyway.
A counter or a list that grows goes up to the caller of the region, as Dynamo guards them, compiles for every value
anew, and fails at the recompile limit (measured on torch 2.13.0: the ninth call).

## What is not reported

- State made in the function, also if helpers or nested functions change it.
- `ctx.attribute = ...` in an `autograd.Function`.
- Stores of tensors made while tracing: see `traced-tensor-leak` (NST207).
- In-place operators on captured tensors: see `captured-tensor-mutation` (NST204).
- Writes in hooks: see `hook-side-effect` (NST209).
- State that is set once, behind a test whether it is set (`if TABLE is None: TABLE = load()`), is a note; a
  first-time flag and a running value are not.
- In a nested function or lambda that only `make_fx` is given it is a note: it tells the code around it what it found.
- In a function marked `assume_constant_result` it is a note: that function is meant to run once.

## References

- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.effect_texts import deed, effect_severity, owner, target, trace_time_only
from nonstrict.rules.stores import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the writes to captured Python state outside hooks."""
    for seen in changes(body, Event.WRITE):
        effect = seen.effect
        if seen.in_hook or not effect.place.captured:
            continue
        subject = target(effect, "state outside the function")
        message = f"{subject}, {owner(effect)}, is changed by {deed(effect)} {trace_time_only(body)}"
        advice = "return the new value and store it in the compiled region or its caller"
        # What is set once, behind a test whether it is set, is the same however often that happens.
        severity = Severity.NOTE if effect.lazy else effect_severity(RULE, body)
        yield report(RULE, body, seen, message, help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Return what is new, so that the callers store it."""
    from nonstrict.fixes.effects.returning import return_value

    yield from return_value(context)


RULE = Rule(
    code="NST203",
    name="outer-mutation",
    severity=Severity.ERROR,
    summary="A traced function writes Python state outside of it, which happens while tracing and never again.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
    gathered="change state outside of it: once per compilation, when its result is frozen",
)
