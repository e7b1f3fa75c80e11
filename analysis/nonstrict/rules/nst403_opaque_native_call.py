"""# opaque-native-call (NST403)

## What it does

Finds traced functions that hand a tensor to compiled code which torch does not know: a C++ or CUDA extension
(`load_inline`, a pybind module), `ctypes`, a Triton kernel launch, a NumPy function.

## Why is this bad

Such code wants real memory. While the compiler traces, tensors have none, so the compile fails (`its data is not
allocated`, `.numpy() is not supported for tensor subclasses`), and torch reports it as an unsupported output type.
Code that happens not to touch the memory runs while tracing only, and is missing in the graph.

## Example

```python
import numpy as np
import torch


@torch._dynamo.nonstrict_trace
def window(x):
    return torch.as_tensor(np.hanning(4), dtype=x.dtype) * np.sin(x)  # warning: [NST403]


@torch.compile(fullgraph=True)
def forward(x):
    return window(x)


def main():
    print(forward(torch.ones(4)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import numpy as np
import torch


@torch.library.custom_op("nonstrict_example::numpy_sin", mutates_args=())
def numpy_sin(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(np.sin(x.numpy()))


@numpy_sin.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch._dynamo.nonstrict_trace
def window(x):
    return torch.as_tensor(np.hanning(4), dtype=x.dtype) * numpy_sin(x)


@torch.compile(fullgraph=True)
def forward(x):
    return window(x)


def main():
    print(forward(torch.ones(4)))


if __name__ == "__main__":
    main()
```

Often torch has the function itself (`torch.sin`). For Triton kernels use `torch.library.triton_op`.

## Fix safety

The function around the call becomes a custom operator with annotations and a generated fake. Unsafe: it has no
derivative until `register_autograd` gives it one. Display-only where the text does not tell the shape of the result,
as with most compiled code: the fake is then a skeleton, and the tensors that are handed over count as changed.

## What is not reported

- Operators of torch, `torch.ops.*`, and custom operators registered with `custom_op`, `triton_op` or `Library`.
- Compiled code that gets no tensor: `np.hanning(4)`, `math.sqrt(2)`, `len(x)`.
- `x.numpy()` and `np.asarray(x)`: see `tensor-escape` (NST402).

## References

- [PyTorch custom operators](https://docs.pytorch.org/tutorials/advanced/custom_ops_landing_page.html)
- [torch.library](https://docs.pytorch.org/docs/stable/library.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the calls that hand a traced tensor to compiled code outside torch."""
    for seen in body.observed(Event.NATIVE):
        what = code(seen.effect.what) if seen.effect.what else "compiled code outside torch"
        message = (
            f"{what} gets a tensor without data while `{body.api}` traces `{body.function}`: compiled code outside "
            "torch fails on it, or is left out of the graph"
        )
        advice = "wrap the call in a `torch.library.custom_op` with `register_fake`"
        yield report(RULE, body, seen, message, help=advice)


def fixes(context: Context) -> Iterator[Fix]:
    """Make a custom operator of the function."""
    from nonstrict.fixes.operators.wrapping import as_custom_op

    yield from as_custom_op(context)


RULE = Rule(
    code="NST403",
    name="opaque-native-call",
    severity=Severity.WARNING,
    summary="A traced function hands a tensor to compiled code that torch does not know.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
)
