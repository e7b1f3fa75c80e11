"""# varying-output-structure (NST507)

## What it does

Finds marked functions that return a list of another length, or another kind of container, depending on state that the
function itself changes or on chance.

## Why is this bad

The function runs several times while it is traced: with fake tensors, to find out about metadata, and to record the
graph. Every run must return the same structure. If it does not, compilation fails with "nonstrict-traced functions
must return the same output shape every time", on every backend.

## Example

```python
import torch

seen = []


@torch._dynamo.nonstrict_trace
def history(x):
    seen.append(1)  # nonstrict: ignore[NST203]
    return [x] * len(seen)  # error: [NST507]  # nonstrict: ignore[NST104]


@torch.compile(fullgraph=True)
def step(x):
    return history(x * 2)[0] + 1


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def history(x, length):
    return [x] * length


@torch.compile(fullgraph=True)
def step(x, length):
    return history(x * 2, length)[0] + 1


def main():
    print(step(torch.ones(3), 1))


if __name__ == "__main__":
    main()
```

## Fix safety

There is no automatic fix.

## What is not reported

- A structure that depends on arguments only: it is the same in every run of one compilation.
- State that the function only reads: see `mutable-state-capture` (NST104).
- State that decides values, not the structure.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the results whose structure differs from one run of the function to the next."""
    for span in body.structures:
        message = (
            f"the structure of what `{called(body)}` returns depends on state that changes while it is traced: torch "
            "runs it several times, gets different structures and fails"
        )
        yield report_at(RULE, body, span, message, help="let the structure depend on arguments only")


RULE = Rule(
    code="NST507",
    name="varying-output-structure",
    severity=Severity.ERROR,
    summary="The structure of the result depends on state that changes while the function is traced.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    experiment=Experiment.REFUSAL,
)
