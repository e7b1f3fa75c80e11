"""# nondeterminism (NST301)

## What it does

Finds values that differ from call to call without an argument differing, and that decide the result of a traced
function: Python's and NumPy's random numbers, the clock, UUIDs, process ids, `os.urandom`, `secrets`, and `next` on a
global iterator.

## Why is this bad

Tracing runs the function's Python code once and keeps the tensor operations. A number drawn in Python is a constant by
then: every later call uses the same one, with `aot_eager` and `inductor`, silently. Stochastic depth that always drops
the same layers still trains, only worse.

## Example

```python
import random

import torch


@torch._dynamo.nonstrict_trace
def jitter(x):
    return x + random.random()  # error: [NST301]


@torch.compile(fullgraph=True)
def augment(x):
    return jitter(x) * 2


def main():
    random.seed(0)
    x = torch.zeros(1)
    print(augment(x))
    print(augment(x))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import random

import torch


@torch._dynamo.nonstrict_trace
def jitter(x, noise):
    return x + noise


@torch.compile(fullgraph=True)
def augment(x, noise):
    return jitter(x, noise) * 2


def main():
    random.seed(0)
    x = torch.zeros(1)
    print(augment(x, torch.tensor(random.random())))
    print(augment(x, torch.tensor(random.random())))


if __name__ == "__main__":
    main()
```

Passing the number as a tensor avoids a recompilation for each value. Often torch's own generator is simpler:
`torch.rand(())` inside the function draws anew on each call.

## Fix safety

The draw moves to the callers of the compiled region, which pass what it gave, together with what is computed from
nothing else: `random.random() < 0.5`. Other calls of the functions on the way draw for themselves. There is no fix
where the draw depends on a local variable, stands in a loop or behind a condition, where a region calls the function
more than once, or where tensors are not computed from a number in every call: then torch compiles for each value.

Of `torch.from_numpy(np.random.rand(3))` there is also the tensor that torch draws: other numbers, of the same size and
type.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, a method that a derived class defines anew, an object of unknown
class.

## What is not reported

- Random operations of torch, dropout included: they are part of the graph.
- A captured `torch.Generator`; passing one as an argument is `generator-argument` (NST302).
- Values that do not reach the result, such as a time that is only measured, recorded where nothing reads it again
  (the record is lost: see `outer-mutation`, NST203), or that only decides whether to raise.
- `random.seed` and its like, which draw nothing: see `torch-global-state` (NST205).
- `hash` of a constant and iteration over a set whose order does not reach the result.

## References

- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
- [Random sampling in torch](https://docs.pytorch.org/docs/stable/torch.html#random-sampling)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.captures import called, not_kept

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the nondeterministic values that decide a result."""
    for draw in body.observed(Event.RANDOM):
        message = f"`{called(body)}` {draw.effect.what}, which {_fate(body)}"
        advice = "draw in the caller and pass the value as an argument, or use torch's own random functions"
        yield report(RULE, body, draw, message, help=advice, evidence=not_kept(draw))


def _fate(body: Body) -> str:
    if body.marker == "constant-result":
        return "happens once: its result is frozen at the first compilation"
    if body.marker == "make-fx":
        return "happens while tracing: the graph keeps that value for ever"
    return "happens while tracing only: with aot_eager and inductor every later call uses the same value"


def fixes(context: Context) -> Iterator[Fix]:
    """Draw in the callers and pass what was drawn."""
    from nonstrict.fixes.captures.hoisting import hoist

    yield from hoist(context)


RULE = Rule(
    code="NST301",
    name="nondeterminism",
    severity=Severity.ERROR,
    summary="A random number, the clock or another changing value is frozen while tracing.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.DRAW,
    gathered="draw values or ask the clock: its result is frozen at the first compilation",
)
