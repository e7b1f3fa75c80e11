"""# escaping-exception (NST210)

## What it does

Finds `raise` statements in a traced function, or in what it calls, whose exception the compiled region means to catch,
or code that calls the region: its callers, what a decorator wraps around them, a function that is given the region.
A handler for a base class counts.

## Why is this bad

The exception is raised while the compiler traces, and every exception raised there comes out as torch's own
`torch._dynamo.exc.Unsupported` ("Unsupported output type for nonstrict_trace-ed function"), with the original one as
its context only; under `allow_in_graph` it is a `TorchRuntimeError`. `except ValueError` does not catch either: not in
the region, where compilation ends, and not in its caller.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def fused(x):
    if x.shape[-1] % 4:
        raise ValueError("the last dimension must be a multiple of 4")  # warning: [NST210]
    return x * 2


@torch.compile(fullgraph=True)
def forward(x):
    return fused(x)


def main():
    try:
        print(forward(torch.ones(3)))
    except ValueError as error:
        print("rejected:", error)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def fused(x):
    return x * 2


@torch.compile(fullgraph=True)
def forward(x):
    return fused(x)


def main():
    x = torch.ones(3)
    if x.shape[-1] % 4:
        print("rejected: the last dimension must be a multiple of 4")
    else:
        print(forward(x))


if __name__ == "__main__":
    main()
```

The region may check as well, and choose another path by a branch on the shape: Dynamo guards shapes.

## Fix safety

A check that needs only what the callers have moves in front of each call of the function, up to where no compiler
traces: unsafe, as callers that were not seen do not check. There is no fix where some use of the function is not a
plain call, or where the region itself catches the exception. `torch._check` is no way out: what it and `_check_value`
raise while tracing reaches the caller as torch's own exception too, in the traced function and in the region, for
static and dynamic dimensions (measured on 2.13 with aot_eager and Inductor).

## What is not reported

- Exceptions that nobody catches: the program ends either way.
- Exceptions caught in the traced function or in what it calls.
- `assert` on shapes and `torch._check`.
- Exceptions under `make_fx`, `aot_function` and non-strict `torch.export`, which let them through as they are.
- Handlers for `Exception` or `RuntimeError` alone are a note: outside the region they do catch torch's own exception,
  which is a `RuntimeError`; inside the region they do not.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.exceptions import catchable
from nonstrict.rules.base import TRACED, Experiment, Rule, report

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

#: What an exception comes out as where it is no `Unsupported`, by kind of marker.
_OUTCOMES = {"in-graph": "TorchRuntimeError"}
#: Handlers that also catch what torch raises in place of the original exception.
_BROAD = frozenset({"", "RuntimeError", "Exception", "BaseException"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the exceptions that some caller of the marked function handles."""
    for seen in body.observed(Event.RAISE):
        caught = body.caught & catchable(seen.effect.what, seen.effect.value)
        if not caught:
            continue
        narrow = bool(caught - _BROAD)
        raised = f"`{seen.effect.what}`" if seen.effect.what else "the exception"
        message = (
            f"{raised} is raised while `{body.api}` traces `{body.function}`: it reaches the caller as "
            f"`torch._dynamo.exc.{_OUTCOMES.get(body.marker, 'Unsupported')}`, {_fate(narrow=narrow)}"
        )
        advice = "check in front of the call, in the region or its caller"
        severity = RULE.severity if narrow else Severity.NOTE
        yield report(RULE, body, seen, message, help=advice, severity=severity)


def _fate(*, narrow: bool) -> str:
    return "which the handler does not catch" if narrow else "which a handler in the region cannot catch"


def fixes(context: Context) -> Iterator[Fix]:
    """Check before the function is called."""
    from nonstrict.fixes.effects.moving import move_check

    yield from move_check(context)


RULE = Rule(
    code="NST210",
    name="escaping-exception",
    severity=Severity.WARNING,
    summary="A traced function raises an exception that its callers mean to catch; torch turns it into another one.",
    documentation=__doc__ or "",
    # `make_fx`, `aot_function` and non-strict export let exceptions through as they are.
    markers=TRACED - {"make-fx"},
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
)
