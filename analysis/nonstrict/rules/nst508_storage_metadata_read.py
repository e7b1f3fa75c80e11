"""# storage-metadata-read (NST508)

## What it does

Finds `storage_offset()` of an argument in a traced function.

## Why is this bad

Torch guards the shape, the strides and the dtype of an argument, not where in its storage it begins. What follows from
the offset of the first call is kept for every later one.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def tag(x):
    first = x.storage_offset() == 0  # note: [NST508]
    return x * 2 if first else x


@torch.compile(fullgraph=True)
def step(x):
    return tag(x) + 1


def main():
    buffer = torch.arange(6.0)
    print(step(buffer[0:3]))
    print(step(buffer[3:6]))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def tag(x, first):
    return x * 2 if first else x


@torch.compile(fullgraph=True)
def step(x, first):
    return tag(x, first) + 1


def main():
    buffer = torch.arange(6.0)
    print(step(buffer[0:3], True))
    print(step(buffer[3:6], False))


if __name__ == "__main__":
    main()
```

## Fix safety

There is no automatic fix.

## What is not reported

- Strides, contiguity and shapes, which are guarded.
- The offset of tensors that the function makes itself.

## References

- [torch.Tensor.storage_offset](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.storage_offset.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import TRACED, Experiment, Rule, report
from nonstrict.rules.captures import traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the storage offsets that are asked for."""
    for seen in body.observed(Event.STORAGE):
        name = seen.effect.place.text
        message = f"the storage offset of `{name}` is read {traced(body)}: no guard watches it, the first one is kept"
        yield report(RULE, body, seen, message, help="pass what depends on the offset as an argument")


RULE = Rule(
    code="NST508",
    name="storage-metadata-read",
    severity=Severity.NOTE,
    summary="The storage offset of an argument is read, which no guard watches.",
    documentation=__doc__ or "",
    markers=TRACED,
    examine=examine,
    experiment=Experiment.REFUSAL,
)
