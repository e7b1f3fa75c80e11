"""# captured-tensor-mutation (NST204)

## What it does

Finds in-place operators on tensors that a traced function did not get as an argument: `BUF.add_(1)`, `BUF[0] = x`,
`BUF += x`, `torch.add(x, 1, out=BUF)`, also through a view, on a closure's tensor, on a plain tensor attribute of a
captured object or on a parameter of a captured module.

## Why is this bad

With `aot_eager` and `inductor` the compile fails: the captured tensor is no input of the graph, so its change cannot be
expressed there (`AssertionError: aot_autograd expected to have an entirely functional graph`, or an internal assertion
in `RegisterFunctionalization`). Before it fails, tracing may already have changed the real tensor, once or several
times, so that code which catches the error and falls back continues with wrong data. `make_fx` and `torch.export` apply
the change while tracing as well.

## Example

```python
import torch

usage = torch.zeros(4)


@torch._dynamo.nonstrict_trace
def route(scores):
    usage.add_(1)  # error: [NST204]
    return scores.softmax(-1)


@torch.compile(fullgraph=True)
def forward(scores):
    return route(scores)


def main():
    forward(torch.ones(4))
    print(usage)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch

usage = torch.zeros(4)


@torch._dynamo.nonstrict_trace
def route(scores, usage):
    usage.add_(1)
    return scores.softmax(-1)


@torch.compile(fullgraph=True)
def forward(scores):
    return route(scores, usage)


def main():
    forward(torch.ones(4))
    print(usage)


if __name__ == "__main__":
    main()
```

A tensor that belongs to a module is best a registered buffer, changed by a marked method: `self` is then an argument.

## Fix safety

The tensor becomes a parameter of the function that changes it and of all on the way from the marked function to it;
every call in the project passes it.

Methods that override one of these functions, or that it overrides, get the parameter too; where it is a `forward`, the
calls of the modules pass it.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, an object of unknown class, a module in `nn.Sequential`.

## What is not reported

- In-place operators on argument tensors, on their views and on registered buffers of argument modules.
- Tensors made in the function.
- Reads of captured tensors: see `global-tensor-capture` (NST101) and `closure-tensor-capture` (NST102). They are not
  reported once more on the same expression.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import code, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the in-place operators on captured tensors."""
    for seen in body.observed(Event.TENSOR_WRITE, Event.REBIND_DATA):
        effect = seen.effect
        if not effect.place.captured:
            continue
        subject = target(effect, "a captured tensor")
        traced = f"while `{body.api}` traces `{body.function}`"
        message = f"captured tensor {subject} is changed in place by {code(effect.what)} {traced}: {_fate(body)}"
        advice = f"pass {subject} as an argument" if effect.place.name else "pass the tensor as an argument"
        yield report(RULE, body, seen, message, help=advice)


def _fate(body: Body) -> str:
    if body.marker == "make-fx":
        return "tracing itself changes the real tensor, or fails"
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    return "torch.compile fails with inductor and aot_eager, and tracing may already have changed the real tensor"


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default

    yield from pass_captured(context)
    yield from pass_default(context)
    yield from pass_bound(context)
    yield from pass_attribute(context)


RULE = Rule(
    code="NST204",
    name="captured-tensor-mutation",
    severity=Severity.ERROR,
    summary="A traced function changes in place a tensor that it captured instead of taking it as an argument.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
)
