"""# torch-global-state (NST205)

## What it does

Finds calls and assignments in traced functions that change torch's own global state: `torch.manual_seed`,
`torch.set_default_dtype`, `torch.set_num_threads`, `torch.use_deterministic_algorithms`, `torch.backends.*` flags,
`torch.inference_mode`. Seeds of other generators that the program shares count as well, as they stand beside torch's in
every `seed_everything`: `random.seed`, `numpy.random.seed`.

## Why is this bad

They run while the compiler traces the function, and never when the compiled code runs. A seed set in the function
makes the first call repeatable at best; every later call draws other numbers than plain Python would. A default
dtype is restored or left behind, depending on the backend, and tensors made under `inference_mode` are ordinary
tensors once compiled. There is no error.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def add_noise(x):
    torch.manual_seed(7)  # warning: [NST205]
    return x + torch.rand(3)


@torch.compile(fullgraph=True)
def forward(x):
    return add_noise(x)


def main():
    first, second = forward(torch.ones(3)), forward(torch.ones(3))
    print("repeatable:", torch.equal(first, second))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def add_noise(x):
    return x + torch.rand(3)


@torch.compile(fullgraph=True)
def forward(x):
    return add_noise(x)


def main():
    torch.manual_seed(7)
    first = forward(torch.ones(3))
    torch.manual_seed(7)
    second = forward(torch.ones(3))
    print("repeatable:", torch.equal(first, second))


if __name__ == "__main__":
    main()
```

## Fix safety

All fixes are unsafe, or for display only where plain Python would compute something else.

- `torch.set_grad_enabled(False)` becomes `with torch.no_grad():` up to the next such call. If there is none, it is put
  around what follows in the function, for display only: the mode no longer reaches the caller.
- `torch.inference_mode()` becomes `torch.no_grad()`: results are ordinary tensors, as they are in compiled code.
- Other calls move in front of each call of the function, up to where no compiler traces, if every use of the function
  is a plain call. To remove them is for display only: plain Python then draws or computes something else.

## What is not reported

- `torch.no_grad()`, `torch.enable_grad()` and `torch.autocast(...)` as context managers or decorators: the compiler
  knows them.
- *Reading* the default dtype, the grad mode, autocast, the deterministic flag or the thread count: torch guards them.
- `torch.set_grad_enabled(False)` as a statement is a note: results agree on every backend, but the mode leaks out of
  the compilation. Use `with torch.no_grad():`.
- In a function marked `assume_constant_result` it is a note: that function is meant to run once.

## References

- [torch.manual_seed](https://docs.pytorch.org/docs/stable/generated/torch.manual_seed.html)
- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.effects import Event
from nonstrict.program.values import Kind
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.effect_texts import clause, code, effect_severity, trace_time_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

_VERB = "changes torch's global state"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of torch's global state."""
    for seen in body.observed(Event.TORCH_STATE):
        effect = seen.effect
        if effect.value.kind is Kind.BOOL:
            message = f"{code(effect.what)} as a statement takes effect {trace_time_only(body)}: the mode leaks out"
            advice = "use `with torch.no_grad():` or `with torch.enable_grad():`"
            yield report(RULE, body, seen, message, help=advice, severity=Severity.NOTE)
            continue
        message = f"{clause(effect.what, _VERB)} {trace_time_only(body)}"
        advice = "set it before the compiled region is called"
        yield report(RULE, body, seen, message, help=advice, severity=effect_severity(RULE, body))


def fixes(context: Context) -> Iterator[Fix]:
    """Use a context manager, or move the call to the caller."""
    from nonstrict.fixes.effects.modes import enter_grad_mode, leave_inference_mode
    from nonstrict.fixes.effects.moving import move_call
    from nonstrict.fixes.effects.removing import remove

    seen = context.observed(Event.TORCH_STATE)
    if seen is not None and seen.effect.value.kind is Kind.BOOL:
        yield from enter_grad_mode(context)
        return
    yield from leave_inference_mode(context)
    yield from move_call(context)
    # Without a seed, plain Python computes something else.
    yield from remove(context, Applicability.DISPLAY)


RULE = Rule(
    code="NST205",
    name="torch-global-state",
    severity=Severity.WARNING,
    summary="A traced function changes torch's global state (seed, default dtype, backend flags) while tracing only.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
    gathered="change the global state of torch: once per compilation, when its result is frozen",
)
