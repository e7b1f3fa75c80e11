"""# unregistered-pytree-output (NST502)

## What it does

Finds what a marked function returns and torch does not take: strings, dtypes and devices, enumeration members, sets,
named tuples, NumPy values, functions, iterators, modules, objects of unregistered classes or of classes registered
with `register_constant`, and, before torch 2.15, `None`: also inside a container, and where the function ends without
a `return`.

## Why is this bad

The result of a marked function becomes part of the graph: tensors and Python numbers, in lists, tuples, dicts and
registered dataclasses. Anything else fails to compile, on every backend; torch's message, "Unsupported output type" or
"torch.* op returned non-Tensor", does not say which value is meant.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def normalise_(x):  # error: [NST502]
    x.sub_(x.mean())


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * 2, "doubled"  # error: [NST502]


@torch.compile(fullgraph=True)
def step(x):
    hidden = x + 1
    normalise_(hidden)
    return scaled(hidden)[0]


def main():
    print(step(torch.arange(3.0)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def normalise_(x):
    return x.sub_(x.mean())


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * 2


@torch.compile(fullgraph=True)
def step(x):
    hidden = x + 1
    normalise_(hidden)
    return scaled(hidden)


def main():
    print(step(torch.arange(3.0)))


if __name__ == "__main__":
    main()
```

## Fix safety

Unsafe, as callers get something else:

- a function that changes an argument in place and returns nothing returns that argument;
- a `None` in a returned tuple is dropped, where all calls take the tuple apart and nothing reads that part;
- a function that returns a named tuple returns a plain one, and its calls make the named one of it.

The class of a returned object is registered as by `unregistered-pytree-input` (NST501): safe for a dataclass. A
dataclass that is registered as a constant is registered with `register_dataclass` instead: unsafe.

## What is not reported

- Tensors, numbers, `torch.Size`, lists, tuples, dicts, what torch's operators return, and registered dataclasses, also
  with a field that is `None`. (`torch.Size` was measured to work on every backend of torch 2.13.)
- Functions whose body is a placeholder, also `pass` in a method that a subclass overrides; generator functions, and
  functions that are marked for `make_fx` or export.
- `None` before a loop that fills the variable.
- What `allow_in_graph` takes besides: `None` and named tuples. It refuses dicts and objects of all classes, and one
  whole number or flag that is all that is returned.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.boundary.exchange import Given
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the results of refused types."""
    for result in body.given:
        refused = result.refused
        if refused is None or ("NumPy" in refused.what and _escapes(body)):
            continue
        if result.implicit and body.applied.is_left_to_subclasses:
            continue
        severity = Severity.WARNING if result.maybe else None
        yield report_at(RULE, body, result.span, _message(body, result), help=refused.advice, severity=severity)


def _escapes(body: Body) -> bool:
    """Whether the body hands a tensor to NumPy: that fails before, and is told of there."""
    return any("numpy" in seen.effect.what for seen in body.observed(Event.ESCAPE, Event.NATIVE))


def _message(body: Body, result: Given) -> str:
    name = called(body)
    if result.implicit:
        how = "may end" if result.maybe else "ends"
        return f"`{name}` {how} without a `return`, which gives None: torch.compile refuses it as a result before 2.15"
    what = result.refused.what if result.refused is not None else ""
    until = " before 2.15" if what.startswith("None") else ""
    return f"`{name}` returns {what}: torch.compile refuses it as a result{until}"


def fixes(context: Context) -> Iterator[Fix]:
    """Return the tensor that is changed, register the class, or use a marker that takes the result."""
    from nonstrict.fixes.boundary.crossing import drop_none, name_outside, return_the_tensor
    from nonstrict.fixes.boundary.registering import register_result
    from nonstrict.fixes.marks.markers import replace_refusing

    yield from return_the_tensor(context)
    yield from drop_none(context)
    yield from name_outside(context)
    yield from replace_refusing(context)
    yield from register_result(context)


RULE = Rule(
    code="NST502",
    name="unregistered-pytree-output",
    severity=Severity.ERROR,
    summary="A marked function returns a value of a type that torch does not take.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
