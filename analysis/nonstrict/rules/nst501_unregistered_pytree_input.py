"""# unregistered-pytree-input (NST501)

## What it does

Finds arguments of marked functions that torch does not take: objects of classes that are not registered with
`torch.utils._pytree`, sets, ranges, slices, `...`, bytes, NumPy values, functions and classes, iterators, modules that
the region creates, and an explicit `None` before torch 2.15. `self` of a marked method is an argument too. Values
inside lists, tuples and dicts count.

## Why is this bad

What a region passes to a marked function becomes part of the graph, taken apart by pytrees down to tensors and
constants. A leaf of any other type cannot be recorded: compilation fails, on every backend, with "Invalid input type
for nonstrict_trace-ed function".

## Example

```python
from dataclasses import dataclass

import torch


@dataclass
class Batch:
    values: torch.Tensor
    scale: float


@torch._dynamo.nonstrict_trace
def normalise(batch):
    return batch.values * batch.scale


@torch.compile(fullgraph=True)
def step(x):
    return normalise(Batch(x, 0.5))  # error: [NST501]


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree


@dataclass
class Batch:
    values: torch.Tensor
    scale: float


pytree.register_dataclass(Batch)


@torch._dynamo.nonstrict_trace
def normalise(batch):
    return batch.values * batch.scale


@torch.compile(fullgraph=True)
def step(x):
    return normalise(Batch(x, 0.5))


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

`register_pytree_node` is for classes with a flatten of their own, `register_constant` for objects without tensors.
An optional argument is left out rather than passed as `None`.

## Fix safety

- A dataclass is registered with `register_dataclass`, a class without tensors that has `__eq__` and `__hash__` with
  `register_constant`: safe. Another class is registered with `register_pytree_node` and functions that keep every
  attribute which its methods set: unsafe, as attributes that other code adds are lost. Where a registration would lose
  something, or torch refuses what a field holds, there is no fix.
- A `None` that is the default of its parameter, or can be made its default, is left out: safe. Arguments behind it are
  passed by name then.
- A set or a range that the function only goes through (loops, `in`, `len`, `sum` and the like) is passed as a tuple:
  safe; unsafe where it looks for something that may be a tensor. So is an iterator that it goes through once: unsafe,
  as all elements are made before the call.
- `slice(a, b)` is passed as `(a, b)`, and made of these in the function, where all calls are known: unsafe.
- `allow_in_graph` is replaced as by `deprecated-marker` (NST604), where `nonstrict_trace` takes the argument.

## What is not reported

- Tensors, numbers, strings, `torch.dtype` and the like, enumerations, lists, tuples, named tuples, dicts,
  `OrderedDict`, `defaultdict`, `deque`, `torch.ops` overloads, modules, and registered classes.
- Classes of which it cannot be told whether they are registered: those of other packages, with unknown bases or
  decorators, or whose base class registers its subclasses.
- Fields of a registered dataclass that are `None`.
- What `allow_in_graph` takes besides: `None`, ranges, slices, `...`, NumPy values. It refuses modules and objects of
  all classes.
- `torch.Generator`: see `generator-argument` (NST302).

Where no region that calls the function has `fullgraph=True`, it is only a note: torch falls back to eager code there,
of which `silent-fallback` (NST609) tells.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.boundary.exchange import Taken
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the arguments of refused types."""
    severity = Severity.NOTE if body.applied.falls_back else None
    for argument in body.taken:
        refused = argument.refused
        if refused is None:
            continue
        evidence = (Related(refused.defined, "the class is defined here"),) if refused.defined is not None else ()
        message = _message(body, argument)
        yield report_at(RULE, body, argument.span, message, help=refused.advice, evidence=evidence, severity=severity)


def _message(body: Body, argument: Taken) -> str:
    what = argument.refused.what if argument.refused is not None else ""
    if argument.name == "self":
        return f"`self` of the marked method `{called(body)}` is {what}: torch.compile refuses it as an argument"
    subject = f"`{argument.name}` of `{called(body)}`" if argument.name else f"this argument of `{called(body)}`"
    return f"{subject} is {what}: torch.compile refuses it as an argument"


def fixes(context: Context) -> Iterator[Fix]:
    """Register the class, leave out the None, pass it as a tuple, or use a marker that takes the argument."""
    from nonstrict.fixes.boundary.crossing import leave_out
    from nonstrict.fixes.boundary.registering import register_argument
    from nonstrict.fixes.boundary.sequences import pass_slice, pass_tuple
    from nonstrict.fixes.marks.markers import replace_refusing

    yield from leave_out(context)
    yield from pass_tuple(context)
    yield from pass_slice(context)
    yield from replace_refusing(context)
    yield from register_argument(context)


RULE = Rule(
    code="NST501",
    name="unregistered-pytree-input",
    severity=Severity.ERROR,
    summary="A marked function gets an argument of a type that torch does not take.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
