"""# constant-built-in-region (NST503)

## What it does

Finds objects of a class registered with `register_constant` that a compiled region itself constructs and passes to a
marked function.

## Why is this bad

Torch guards a constant by comparing it with the object of the first call. An object that the region constructs has no
source to guard: compilation fails, on every backend.

## Example

```python
import torch
from torch.utils import _pytree as pytree


class Window:
    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return isinstance(other, Window) and other.size == self.size

    def __hash__(self):
        return hash(self.size)


pytree.register_constant(Window)


@torch._dynamo.nonstrict_trace
def crop(x, window):
    return x[: window.size]


@torch.compile(fullgraph=True)
def step(x):
    return crop(x, Window(2)) + 1  # error: [NST503]


def main():
    print(step(torch.ones(4)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch.utils import _pytree as pytree


class Window:
    def __init__(self, size):
        self.size = size

    def __eq__(self, other):
        return isinstance(other, Window) and other.size == self.size

    def __hash__(self):
        return hash(self.size)


pytree.register_constant(Window)

window = Window(2)


@torch._dynamo.nonstrict_trace
def crop(x, window):
    return x[: window.size]


@torch.compile(fullgraph=True)
def step(x):
    return crop(x, window) + 1


def main():
    print(step(torch.ones(4)))


if __name__ == "__main__":
    main()
```

## Fix safety

The object moves to the level of the module, above the region, where it is made of literals and nothing changes it:
safe, or unsafe where making it does more than to store what it is given. Where a variable of the region holds it, the
variable moves.

## What is not reported

- Constants made outside the region: module globals, attributes, arguments of the region.
- Objects of classes registered with `register_dataclass` or `register_pytree_node`, which a region may construct.
- `config = config or Config()` where all calls of the region pass a config.

An object that the region makes on one way only (`Config(2) if wide else CONFIG`) is a warning, and an error where a
call of the region leaves out the parameter in whose place it is made.

## References

- [Source of torch.utils._pytree](https://github.com/pytorch/pytorch/blob/main/torch/utils/_pytree.py)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.boundary.making import Made
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.captures import called

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the constants that regions construct and pass."""
    for argument in body.taken:
        constant = next((one for one in argument.registrations if one.kind == "constant"), None)
        if constant is None or not argument.made:
            continue
        sometimes = argument.made is Made.SOMETIMES
        message = (
            f"this object of `{constant.cls.name}`, which is registered as a constant, is "
            f"{'in some calls ' if sometimes else ''}made in the region that passes it to `{called(body)}`: "
            "torch.compile cannot guard it and fails"
        )
        evidence = (Related(constant.span, "registered as a constant here"),)
        severity = Severity.WARNING if sometimes else RULE.severity
        advice = "make the object outside the region"
        yield report_at(RULE, body, argument.span, message, help=advice, evidence=evidence, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Make the object outside the region."""
    from nonstrict.fixes.marks.outside import move_constant

    yield from move_constant(context)


RULE = Rule(
    code="NST503",
    name="constant-built-in-region",
    severity=Severity.ERROR,
    summary="A region makes an object of a class registered as a constant and passes it to a marked function.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
