"""# generator-argument (NST302)

## What it does

Finds a `torch.Generator` that a compiled region passes to a marked function.

## Why is this bad

A generator is no input that Dynamo can hand over: compilation fails, on every backend. `nonstrict_trace` reports
`NotImplementedError: UserDefinedObjectVariable(Generator)` as an internal error, `allow_in_graph` a failure to convert
the arguments.

## Example

```python
import torch

generator = torch.Generator()


@torch._dynamo.nonstrict_trace
def add_noise(x, source):
    return x + torch.rand(3, generator=source)


@torch.compile(fullgraph=True)
def step(x):
    return add_noise(x, generator) * 2  # error: [NST302]


def main():
    generator.manual_seed(0)
    print(step(torch.zeros(3)))
    print(step(torch.zeros(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch

generator = torch.Generator()


@torch._dynamo.nonstrict_trace
def add_noise(x):
    return x + torch.rand(3, generator=generator)


@torch.compile(fullgraph=True)
def step(x):
    return add_noise(x) * 2


def main():
    generator.manual_seed(0)
    print(step(torch.zeros(3)))
    print(step(torch.zeros(3)))


if __name__ == "__main__":
    main()
```

A captured generator advances on every call, and reseeding it from outside works. Drawing in the caller and passing the
tensor works too.

## Fix safety

There is no automatic fix.

## What is not reported

- Captured generators.
- Generators passed outside compiled regions, and parameters with a default that no call fills.

## References

- [torch.Generator](https://docs.pytorch.org/docs/stable/generated/torch.Generator.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.boundary.verdicts import holds_generator
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called

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
        message = f"`{name}` of `{called(body)}` is a torch.Generator: torch.compile refuses it as an argument"
        yield report_at(RULE, body, span, message, help=_ADVICE)


def _passed(body: Body) -> Iterator[tuple[Span, str]]:
    passed = (argument for argument in body.taken if argument.site is not None)
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
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "in-graph"}),
    examine=examine,
    experiment=Experiment.REFUSAL,
)
