"""# data-ptr (NST401)

## What it does

Finds traced functions that ask a tensor for its address: `x.data_ptr()`, `x.untyped_storage().data_ptr()`,
`x.__cuda_array_interface__`, `torch.from_dlpack(x)`, `ctypes` casts of such an address, on an argument or on anything
computed from it. Functions that do something with the memory of a tensor count too: `untyped_storage().resize_(0)`,
`copy_` and `fill_` of storages, `t.set_(storage)`, also of tensors made in the function.

## Why is this bad

While the compiler traces, tensors have no memory, so there is no address. With every backend the compile fails, and
torch's message hides why: "Unsupported output type for nonstrict_trace-ed function", with `Cannot access data pointer
of Tensor` only in the context. A broad `except` in the function swallows the error and bakes in the slow path.
`make_fx` with its default `tracing_mode="real"` bakes in the address of the example input.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def scale_aligned(x):
    aligned = x.data_ptr() % 16 == 0  # error: [NST401]
    return x * 2 if aligned else x.clone() * 2


@torch.compile(fullgraph=True)
def forward(x):
    return scale_aligned(x)


def main():
    print(forward(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch.library.custom_op("nonstrict_example::scale_aligned", mutates_args=())
def scale_aligned(x: torch.Tensor) -> torch.Tensor:
    aligned = x.data_ptr() % 16 == 0
    return x * 2 if aligned else x.clone() * 2


@scale_aligned.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.compile(fullgraph=True)
def forward(x):
    return scale_aligned(x)


def main():
    print(forward(torch.ones(3)))


if __name__ == "__main__":
    main()
```

The body of a custom operator is opaque to the compiler: it runs with real tensors at every call.

## Fix safety

The function that takes the address becomes a custom operator, the smallest one that takes and returns tensors and
numbers: annotations are added, and a fake is generated from what the function returns. Unsafe: it has no derivative
until `register_autograd` gives it one, and it counts as changing what it hands on the address of. Where the text does
not tell the shape of the result, calls recorded by [`nonstrict record`](../record.md) may; display-only where they do
not either: the fake is then a skeleton. Methods, nested functions and functions with other decorators are left alone.

## What is not reported

- Weak references to storages (`StorageWeakRef`), which only tell one storage from another.
- `x.storage_offset()`, `x.stride()`, `x.is_contiguous()`, the size of a storage: they need no memory.
- `t.resize_(0)`, `t.set_()` and `t.set_(other)` of tensors made in the function.
- `resize_` of the storage of a tensor that is made without elements: `torch.empty(0)`, `x.new_zeros(0, 3)`.
- The bodies of custom operators and of functions marked `leaf_function`.
- The address of a captured tensor is a note: captured tensors are real while tracing, so the call works. A write
  through the address happens while tracing only.

## References

- [PyTorch custom operators](https://docs.pytorch.org/tutorials/advanced/custom_ops_landing_page.html)
- [Fake tensor](https://docs.pytorch.org/docs/stable/torch.compiler_fake_tensor.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.storages import is_address
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import clause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the places where the address of a tensor is taken."""
    for seen in body.observed(Event.POINTER):
        effect = seen.effect
        subject = clause(effect.what, "takes the address of a tensor")
        severity = RULE.severity
        if effect.place.captured:
            traced = f"`{body.api}` freezes the address while tracing `{body.function}`"
            message = f"{subject}, here a captured one: {traced}, and a write through it happens while tracing only"
            severity = Severity.NOTE
        else:
            message = f"{subject}, but tensors have no memory {_fate(body, effect.what)}"
        advice = "wrap the code that needs the address in a `torch.library.custom_op` with `register_fake`"
        yield report(RULE, body, seen, message, help=advice, severity=severity)


def _fate(body: Body, what: str) -> str:
    traced = f"while `{body.api}` traces `{body.function}`"
    if body.marker == "make-fx":
        return f"{traced}: this fails, or the address of the example input is baked in"
    said = ' (torch says "Unsupported output type")' if is_address(what) else ""
    return f"{traced}: torch.compile fails{said}"


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function."""
    from nonstrict.fixes.operators.wrapping import as_custom_op

    yield from as_custom_op(context)


RULE = Rule(
    code="NST401",
    name="data-ptr",
    severity=Severity.ERROR,
    summary="A traced function takes the address of a tensor, which has no memory while the compiler traces.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
)
