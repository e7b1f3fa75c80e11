"""# hook-side-effect (NST209)

## What it does

Finds Python effects (output, writes to state outside) in hooks that a traced function registers, in forward hooks of
modules that it calls, and in `autograd.Function.backward` reached from it.

## Why is this bad

Hooks and backward passes are traced together with the function. The tensor operators in them become part of the graph;
everything else happens while tracing, if at all, and never when the compiled code runs: the statistics that a hook
collects stay empty, or hold what tracing left there. There is no error.

## Example

```python
import torch
from torch import nn

sizes = []


def record(module, args, output):
    sizes.append(output.shape[0])  # warning: [NST209]


layer = nn.Linear(3, 3)
layer.register_forward_hook(record)


@torch._dynamo.nonstrict_trace
def apply(layer, x):
    return layer(x)


@torch.compile(fullgraph=True)
def forward(x):
    return apply(layer, x)


def main():
    for _ in range(2):
        forward(torch.ones(2, 3))
    print(sizes)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch import nn

sizes = []
layer = nn.Linear(3, 3)


@torch._dynamo.nonstrict_trace
def apply(layer, x):
    return layer(x)


@torch.compile(fullgraph=True)
def forward(x):
    return apply(layer, x)


def main():
    for _ in range(2):
        output = forward(torch.ones(2, 3))
        sizes.append(output.shape[0])
    print(sizes)


if __name__ == "__main__":
    main()
```

## Fix safety

There is no automatic fix: what the hook records has to be returned or recorded by the caller.

## What is not reported

- Hooks that only compute: `y.register_hook(lambda grad: grad * 0.5)`.
- `.item()` in `autograd.Function.backward`.
- Writes to `ctx` and to state made in the hook.
- Hooks of modules that are taken away again before a traced function runs, as tools that profile a model do.
- Hooks of parts of a module that are chosen otherwise than by their class, where the function does not call the whole.
- Tensors that a hook stores: a fake tensor stays behind, see `traced-tensor-leak` (NST207).
- In-place operators on captured tensors in a hook: see `captured-tensor-mutation` (NST204).

## References

- [Tensor.register_hook](https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_hook.html)
- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.places import Origin
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import deed, outlives, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.effects import Effect
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the Python effects that happen in a hook or a backward pass."""
    for seen in body.observed(Event.IO, Event.WRITE, Event.LEAK):
        effect = seen.effect
        stays = effect.event is Event.LEAK and outlives(effect)  # NST207
        if not seen.in_hook or stays or not _outside(effect):
            continue
        message = (
            f"{_deed(effect)} in a hook or backward pass of `{body.function}`: this happens while `{body.api}` traces, "
            "if at all, never when the compiled code runs"
        )
        advice = "return what the hook records, or record it in the caller of the compiled region"
        yield report(RULE, body, seen, message, help=advice)


def _outside(effect: Effect) -> bool:
    return effect.event is Event.IO or effect.place.captured or effect.place.origin is Origin.ARGUMENT


def _deed(effect: Effect) -> str:
    if effect.event is Event.IO:
        return f"this {effect.what or 'has an effect outside the program'}"
    subject = target(effect, "state outside the function")
    if effect.event is Event.LEAK:
        return f"a tensor is stored in {subject} by {deed(effect)}"
    return f"{subject} is changed by {deed(effect)}"


RULE = Rule(
    code="NST209",
    name="hook-side-effect",
    severity=Severity.WARNING,
    summary="A hook or backward pass reached from a traced function has Python effects, which tracing loses.",
    documentation=__doc__ or "",
    examine=examine,
    experiment=Experiment.EFFECT,
)
