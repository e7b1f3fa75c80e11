"""# input-data-rebinding (NST208)

## What it does

Finds traced functions that change what an argument tensor *is*, rather than its elements: `x.data = other`,
`x.resize_(...)`, `x.unsqueeze_(0)`, `x.squeeze_()`, `x.t_()`, `x.requires_grad_()`, `x.grad = ...`, an attribute of
your own (`x.scale = 2`), and `.backward()` that reaches an argument's `.grad`.

## Why is this bad

Changes of elements are made part of the graph; these are not. They happen to a stand-in while the compiler traces:

- `x.data = other`, `x.requires_grad_()`, `x.grad = ...` and attributes are lost without an error, on `aot_eager` and
  `inductor`;
- `x.resize_()`, `x.unsqueeze_()` and other metadata changes fail, while compiling or at run time;
- `x.data = other` on a tensor that the function itself made, or on a view, is lost as well: the compiled code computes
  with what the tensor held before;
- `.backward()` into an argument fails (`Cannot backprop through mirrored meta`).

With `backend="eager"` all of them seem to work.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def clamp(weight):
    weight.data = weight.clamp(-1.0, 1.0)  # warning: [NST208]
    return weight.sum()


@torch.compile(fullgraph=True)
def forward(weight):
    return clamp(weight)


def main():
    weight = torch.tensor([3.0, -3.0, 0.5])
    print(forward(weight))
    print(weight)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def clamp(weight):
    weight.copy_(weight.clamp(-1.0, 1.0))
    return weight.sum()


@torch.compile(fullgraph=True)
def forward(weight):
    return clamp(weight)


def main():
    weight = torch.tensor([3.0, -3.0, 0.5])
    print(forward(weight))
    print(weight)


if __name__ == "__main__":
    main()
```

For shapes, return `x.unsqueeze(0)`; for gradients, use `torch.autograd.grad` in the function, or call `.backward()` in
the caller; set `requires_grad` before the call.

## Fix safety

There is no automatic fix: the out-of-place form has to reach whoever relied on the change.

## What is not reported

- In-place operators on elements: `x.add_(1)`, `x.data.add_(1)`, `x.detach().add_(1)`, `x[0] = 0`, and `x.set_(other)`.
- The same on tensors made in the function, and other changes of these, such as `y = x.clone(); y.unsqueeze_(0)`.
- Autograd that begins and ends in the function (`torch.autograd.grad`, `backward()` of a detached leaf).

## References

- [Tensor.requires_grad_](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.requires_grad_.html)
- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.places import Origin
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of an argument tensor's metadata, identity or gradient, and data that is lost in any tensor."""
    for seen in body.observed(Event.REBIND_DATA):
        effect = seen.effect
        if effect.place.captured:
            continue
        traced = f"while `{body.api}` traces `{body.function}`"
        if "backward" in effect.what:
            message = f"{code(effect.what)} writes the gradient of an argument {traced}: torch.compile fails"
            advice = "use `torch.autograd.grad` in the function, or call `backward()` in the caller"
        elif effect.place.origin is not Origin.ARGUMENT or effect.place.is_view:
            message = (
                f"{code(effect.what)} is not recorded {traced}: the compiled code computes with the data that the "
                "tensor was made with, silently"
            )
            advice = "change the elements in place (`x.copy_(...)`), or bind the name to the new tensor"
        else:
            message = (
                f"{code(effect.what)} changes what an argument tensor is, not its elements, {traced}: the "
                "caller's tensor does not change, or torch.compile fails"
            )
            advice = "change the elements in place (`x.copy_(...)`), or return the new tensor"
        yield report(RULE, body, seen, message, help=advice)


RULE = Rule(
    code="NST208",
    name="input-data-rebinding",
    severity=Severity.WARNING,
    summary="A traced function rebinds the data, shape, gradient or attributes of an argument tensor, which is lost.",
    documentation=__doc__ or "",
    examine=examine,
    experiment=Experiment.EFFECT,
)
