"""# discarded-marker (NST603)

## What it does

Finds calls of `nonstrict_trace` or `leaf_function` whose result is dropped.

## Why is this bad

Both return a new function and leave the one they are given as it is, unlike `allow_in_graph`, which remembers the
function itself. A call for its effect marks nothing: the region goes on tracing the function's body.

## Example

```python
import torch


def scale(x):
    torch._dynamo.graph_break()  # nonstrict: ignore[NST701]  shown for NST603
    return x * 2


torch._dynamo.nonstrict_trace(scale)  # warning: [NST603]


@torch.compile(fullgraph=True)
def step(x):
    return scale(x) + 1


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


def scale(x):
    torch._dynamo.graph_break()
    return x * 2


scale = torch._dynamo.nonstrict_trace(scale)


@torch.compile(fullgraph=True)
def step(x):
    return scale(x) + 1


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Fix safety

The result is bound to the name of the function: safe, as plain Python computes the same. Code that imported the name
before keeps the unmarked function. There is no fix for a method of a class whose objects torch refuses as arguments.

## What is not reported

- `allow_in_graph` and `assume_constant_result`, which change what Dynamo does with the function itself.
- Calls that are expected to raise (`with pytest.raises(...)`).
- Markers that a function of the project applies to what it is given, and whose result it keeps or returns.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.marks.loose import DROPPED
from nonstrict.rules.base import Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the marker if nothing keeps what it returns."""
    if body.marker == DROPPED or body.applied.is_dropped:
        name = body.function.rpartition(".")[2]
        message = (
            f"the function that `{body.api}` returns is dropped: `{name}` itself stays unmarked, and compiled regions "
            "trace it"
        )
        advice = f"keep the result: `{name} = {body.api}({name})`, or use it as a decorator"
        found = report_at(RULE, body, body.marked_at, message, help=advice)
        yield found._replace(function="", marker="nonstrict") if body.marker == DROPPED else found


def fixes(context: Context) -> Iterator[Fix]:
    """Bind the result to the name of the function."""
    from nonstrict.fixes.marks.rebinding import rebind

    yield from rebind(context)


RULE = Rule(
    code="NST603",
    name="discarded-marker",
    severity=Severity.WARNING,
    summary="A marker is called for its effect, but its effect is the function that it returns.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "leaf", DROPPED}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
)
