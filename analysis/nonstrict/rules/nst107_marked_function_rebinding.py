"""# marked-function-rebinding (NST107)

## What it does

Finds calls in a compiled region that may reach one of several marked functions: a name, an attribute or an entry of a
container is rebound to another marked function, the function is an argument, or a factory makes a new one for each
value.

## Why is this bad

Dynamo recognises a function by its code object. All functions marked with `nonstrict_trace` share one, that of torch's
own wrapper, so Dynamo cannot tell them apart: the region that was compiled for the first is run for all the others,
on every backend, silently.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def double(x):
    return x * 2


@torch._dynamo.nonstrict_trace
def triple(x):
    return x * 3


scale = double


@torch.compile(fullgraph=True)
def step(x):
    return scale(x) + 1  # warning: [NST107]


def main():
    global scale
    print(step(torch.ones(3)))
    scale = triple
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def scale(x, factor):
    return x * factor


@torch.compile(fullgraph=True)
def step(x, factor):
    return scale(x, factor) + 1


def main():
    print(step(torch.ones(3), torch.tensor(2.0)))
    print(step(torch.ones(3), torch.tensor(3.0)))


if __name__ == "__main__":
    main()
```

Another way is to choose outside the region, between two compiled functions.

## Fix safety

All fixes are unsafe: regions and callers that were not seen stay as they are.

- Functions at the level of a module among which a call chooses, by a name, an entry of a table, an argument or an
  attribute of `self`, lose their markers, and every call in a region that reaches one of them marks what it calls:
  `nonstrict_trace(kernels["sum"])(x)`. Dynamo guards a plain function that is marked there. Measured on 2.13 for all of
  these, on aot_eager and Inductor. There is no such fix where a call may reach anything else, where a region uses one
  of the functions otherwise, or where one has further decorators.
- A function that a factory makes for each value gets what it captures as arguments, from the region, which Dynamo
  guards.
- `self.scale = nonstrict_trace(lambda x: x * factor)` becomes one marked function of the module that gets `factor`;
  the instance keeps the value. Only for numbers, texts and tensors, and where every use of the attribute is a call by
  the class's own methods.

## What is not reported

- A marked function with one binding, or several names for the same function.
- The inline form `nonstrict_trace(function)(x)` on a module-level function: Dynamo guards that function.
- Several marked functions called by their own names in one region.
- A choice by a key or flag that the region reads: Dynamo guards it. The same for objects of which the region reads
  another attribute in which they differ.
- `allow_in_graph`, which keeps the function's own code object.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import Experiment, Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls in regions that may reach one of several marked functions."""
    for dispatch in body.dispatches:
        message = (
            f"{dispatch.message}: Dynamo cannot tell functions marked with `{body.api}` apart, so the region compiled "
            "for the first is run for the others, on every backend"
        )
        advice = "mark one function and pass the choice as an argument, or choose outside the compiled region"
        yield report_at(RULE, body, dispatch.span, message, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Mark at the call what is called, or pass what the functions of a factory or of instances differ in."""
    from nonstrict.fixes.captures.enclosed import pass_enclosed
    from nonstrict.fixes.captures.instances import share_between_instances
    from nonstrict.fixes.marks.dispatching import mark_at_call

    yield from mark_at_call(context)
    yield from pass_enclosed(context)
    yield from share_between_instances(context)


RULE = Rule(
    code="NST107",
    name="marked-function-rebinding",
    severity=Severity.WARNING,
    summary="A call in a region may reach one of several marked functions, which Dynamo cannot tell apart.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
)
