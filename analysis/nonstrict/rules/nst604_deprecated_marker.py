"""# deprecated-marker (NST604)

## What it does

Points out `allow_in_graph`, which `nonstrict_trace` replaces.

## Why is this bad

`allow_in_graph` refuses modules, registered classes and dictionaries, fails on captured tensors with every backend, and
has no effect on methods: Dynamo traces them all the same. torch's documentation advises against it.

## Example

```python
import torch


class Scale(torch.nn.Module):
    @torch._dynamo.allow_in_graph  # note: [NST604]
    def scaled(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.scaled(x) + 1


def main():
    model = torch.compile(Scale(), fullgraph=True)
    print(model(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


class Scale(torch.nn.Module):
    @torch._dynamo.nonstrict_trace
    def scaled(self, x):
        torch._dynamo.graph_break()
        return x * 2

    def forward(self, x):
        return self.scaled(x) + 1


def main():
    model = torch.compile(Scale(), fullgraph=True)
    print(model(torch.ones(3)))


if __name__ == "__main__":
    main()
```

Where `allow_in_graph(function)` was called for its effect, keep what `nonstrict_trace` returns:
`function = nonstrict_trace(function)`.

## Fix safety

The marker is replaced under the name that the torch at hand has, with its import. Where it was called for its effect,
the result is bound to the name of the function. Safe for functions that are known to take and return tensors and
numbers, as plain Python computes the same. Unsafe for others, of which nobody knows that `nonstrict_trace` takes them,
and for methods, which Dynamo traced before. There is no fix where `nonstrict_trace` refuses what is passed or
returned.

## What is not reported

- Versions of torch before 2.12.

## References

- [torch.compiler.allow_in_graph](https://docs.pytorch.org/docs/stable/generated/torch.compiler.allow_in_graph.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.rules.base import Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_SINCE = (2, 12)
_PUBLIC_SINCE = (2, 14)


def examine(body: Body) -> Iterator[Finding]:
    """Yield every use of `allow_in_graph`."""
    if body.torch < _SINCE:
        return
    where = "torch.compiler" if body.torch >= _PUBLIC_SINCE else "torch._dynamo"
    message = "`allow_in_graph` is superseded by `nonstrict_trace`, which takes modules and registered classes too"
    advice = f"use `{where}.nonstrict_trace`, and keep the function that it returns"
    yield report_at(RULE, body, body.marked_at, message, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Use `nonstrict_trace`."""
    from nonstrict.fixes.marks.markers import replace_deprecated

    yield from replace_deprecated(context)


RULE = Rule(
    code="NST604",
    name="deprecated-marker",
    severity=Severity.NOTE,
    summary="allow_in_graph is superseded by nonstrict_trace.",
    documentation=__doc__ or "",
    markers=frozenset({"in-graph"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
)
