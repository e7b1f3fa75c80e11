"""# unsound-pytree-registration (NST504)

## What it does

Finds registrations of classes with `torch.utils._pytree` that lose something, where objects of the class are passed
to marked functions:

- a field that the function reads and that the registration drops (`drop_field_names`, `field(init=False)`, a flatten
  function that leaves it out, a context that the unflatten function ignores);
- children in another order than that in which the constructor takes them;
- a `__post_init__` that computes a field from itself, as it runs again on the rebuilt object;
- a flatten function whose context holds a tensor, a module or an object of a plain class;
- `register_constant` on a frozen dataclass, on a class that holds tensors, whose `__eq__` leaves out a field that the
  function reads, or whose objects the project changes.

## Why is this bad

Torch takes the object apart in the region and builds another one inside the marked function. What the registration
does not carry over is back at its default there: a wrong result on every backend, without a word. A constant is
guarded by its `__eq__` alone. A frozen dataclass cannot be rebuilt as a constant on torch 2.13, although torch's own
documentation shows one, and fails to compile.

## Example

```python
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree


@dataclass
class Image:
    pixels: torch.Tensor

    def __post_init__(self):
        self.pixels = self.pixels / 255


pytree.register_dataclass(Image)  # error: [NST504]

image = Image(torch.full((3,), 255.0))


@torch._dynamo.nonstrict_trace
def brightness(image):
    return image.pixels.mean()


@torch.compile(fullgraph=True)
def step(x):
    return brightness(image) + x


def main():
    print(step(torch.zeros(1)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
from dataclasses import dataclass

import torch
from torch.utils import _pytree as pytree


@dataclass
class Image:
    pixels: torch.Tensor


pytree.register_dataclass(Image)

image = Image(torch.full((3,), 255.0) / 255)


@torch._dynamo.nonstrict_trace
def brightness(image):
    return image.pixels.mean()


@torch.compile(fullgraph=True)
def step(x):
    return brightness(image) + x


def main():
    print(step(torch.zeros(1)))


if __name__ == "__main__":
    main()
```

## Fix safety

- Fields that `drop_field_names` drops are registered: safe, if the constructor takes them.
- An `__eq__` that leaves out a field compares it: unsafe, as plain Python compares by it too.
- `register_constant`, and functions that leave out an attribute, are replaced by `register_dataclass`, or by functions
  that keep every attribute: unsafe, as other code may take the objects apart.

There is no automatic fix for a `__post_init__` that runs again, nor for what torch cannot keep in a context.

## What is not reported

- Registrations of classes of which no object is passed to a marked function in a compiled region.
- Fields that the marked function does not read, and fields that the constructor computes from those that are kept.
- A `__post_init__` that only checks, converts (`self.x = tuple(self.x)`) or fills other fields, one that asks the value
  itself (`if self.x.dim() == 1:`), and one that a registered field tells what it has done (`if not self.scaled:`).
- Two attributes that change places with one another: torch takes an object apart twice, which puts them right again.
- An `__eq__` of which the text does not tell what it compares, and fields that follow from those that it compares.
- Mutable classes registered as constants that nothing in the project changes once they may have been passed: on 2.13
  this is the form that works.

## References

- [Source of torch.utils._pytree](https://github.com/pytorch/pytorch/blob/main/torch/utils/_pytree.py)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.rules.base import Experiment, Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the registrations that lose something of what the function gets."""
    for registration, fault in body.unsound:
        yield report_at(RULE, body, registration.span, fault.message, help=fault.advice, evidence=fault.evidence)


def fixes(context: Context) -> Iterator[Fix]:
    """Register every field, or in another way."""
    from nonstrict.fixes.boundary.registering import repair

    yield from repair(context)


RULE = Rule(
    code="NST504",
    name="unsound-pytree-registration",
    severity=Severity.ERROR,
    summary="A class is registered with pytrees in a way that loses or freezes what a marked function reads.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
