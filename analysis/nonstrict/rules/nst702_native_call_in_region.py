"""# native-call-in-region (NST702)

## What it does

Finds calls of compiled code (a C or C++ extension, a `ctypes` library, a function loaded by
`torch.utils.cpp_extension`) in a region that `torch.compile` is applied to.

## Why is this bad

Dynamo traces Python. At a call into compiled code that is not torch's it has nothing to trace: the graph breaks, and
with `fullgraph=True` compilation fails ("Attempted to call function marked as skipped").

## Example

```python
import ctypes

import torch

libm = ctypes.CDLL(None)


@torch.compile(fullgraph=True)
def scale(x):
    return x * libm.abs(-2)  # error: [NST702]


def main():
    print(scale(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import ctypes

import torch

libm = ctypes.CDLL(None)


@torch.library.custom_op("demo::scale", mutates_args=())
def scale_op(x: torch.Tensor) -> torch.Tensor:
    return x * libm.abs(-2)


@scale_op.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(fullgraph=True)
def scale(x):
    return scale_op(x)


def main():
    print(scale(torch.ones(3)))


if __name__ == "__main__":
    main()
```

A custom operator is opaque to the compiler: its body runs on every call, with real tensors.

## Fix safety

A helper around the call, or else the call itself, becomes a custom operator with a fake. Display-only where the text
does not tell the shape of the result: the fake is a skeleton, and the tensors count as changed (`mutates_args`).
Unsafe else: the operator has no derivative until `register_autograd` gives it one.

## What is not reported

- Operators of torch (`torch.ops.*`), registered custom operators, Triton kernels and NumPy functions.
- C functions of the standard library: they are graph-break (NST701).
- Calls behind `torch.compiler.disable`: that call itself breaks the graph (NST701).

## References

- [Custom operators](https://docs.pytorch.org/docs/stable/library.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.regions.breaks import NATIVE
from nonstrict.rules.base import COMPILED, Experiment, Rule, report
from nonstrict.rules.costs import outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls into compiled code."""
    for seen in body.observed(Event.BREAK):
        key = seen.effect.what
        if not key.startswith(NATIVE) or seen.in_hook:
            continue
        callee = key.removeprefix(NATIVE)
        message = f"`{callee}` is compiled code, which breaks the graph of `{body.function}`{outcome(body, seen)}"
        conditional = seen.effect.conditional or any(edge.conditional for edge in seen.chain)
        hidden = body.hidden_behind(seen)
        severity = None if body.refusal(seen) else Severity.NOTE if conditional or hidden else Severity.WARNING
        advice = "wrap the call in a `torch.library.custom_op` with a `register_fake`"
        yield report(RULE, body, seen, message, help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function around the call, or of the call."""
    from nonstrict.fixes.operators.extracting import as_operator
    from nonstrict.fixes.operators.wrapping import as_custom_op

    found = list(as_custom_op(context))
    yield from found or as_operator(context)


RULE = Rule(
    code="NST702",
    name="native-call-in-region",
    severity=Severity.ERROR,
    summary="Compiled code outside torch is called in a compiled region, and breaks its graph.",
    documentation=__doc__ or "",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.BREAK,
)
