"""# unguarded-argument-property (NST106)

## What it does

Finds questions about an argument that get another answer while tracing, or an answer that no guard watches: whether
a tensor is an `nn.Parameter` or exactly a `torch.Tensor`, whether a number is an `int`, `x.is_leaf`, `x.grad_fn`,
`x.grad`, `id(x)`, attributes that user code has put on a tensor, and `torch.compiler.is_compiling()`.

## Why is this bad

While tracing, the function gets stand-ins: fake tensors, and symbolic numbers from the second value on. They carry
shape, dtype, device and `requires_grad`, which are guarded; the rest they either do not have or do not guard. The
branch taken while tracing is the one that the compiled code always takes, with `aot_eager` and `inductor`, silently.

## Example

```python
import torch
from torch import nn

weight = nn.Parameter(torch.ones(3))


@torch._dynamo.nonstrict_trace
def decay(value):
    if isinstance(value, nn.Parameter):  # warning: [NST106]
        return value * 0.5
    return value


@torch.compile(fullgraph=True)
def step(value):
    return decay(value) + 1


def main():
    with torch.no_grad():
        print(step(weight))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch import nn

weight = nn.Parameter(torch.ones(3))


@torch._dynamo.nonstrict_trace
def decay(value, is_parameter):
    if is_parameter:
        return value * 0.5
    return value


@torch.compile(fullgraph=True)
def step(value):
    return decay(value, isinstance(value, nn.Parameter)) + 1


def main():
    with torch.no_grad():
        print(step(weight))


if __name__ == "__main__":
    main()
```

In the region Dynamo answers the question itself, and guards the answer.

## Fix safety

There is no automatic fix. The question moves to every caller.

## What is not reported

- Questions about dtype, device, shape, strides, contiguity and `requires_grad`: they are guarded.
- Questions about values made in the function.
- Attributes of a tensor that an annotation or `isinstance` says is of a subclass.
- Whether a value is None, and which of several registered types a container has.

## References

- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
- [torch.compiler.is_compiling](https://docs.pytorch.org/docs/stable/generated/torch.compiler.is_compiling.html)
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

#: What is wrong with an answer, by the function that asks.
_ANSWERS = {
    "isinstance": "gets another answer: parameters are plain tensors here, and numbers become symbolic",
    "type": "gets another answer: tensors are stand-ins here, and numbers become symbolic",
    "id": "gets another answer: it sees a stand-in for the argument",
}
_COMPILING = "is true while tracing, so that compiled code takes another branch than plain Python"
_ATTACHED = "gets another answer: attributes that were put on a tensor are not there"
_UNGUARDED = "is not guarded and may differ"
_AUTOGRAD = ("is_leaf", "grad_fn", "grad", "retains_grad", "_version", "_base", "output_nr")


def examine(body: Body) -> Iterator[Finding]:
    """Yield the questions about arguments that no guard watches."""
    for query in body.observed(Event.QUERY):
        asked = query.effect.what
        message = f"`{asked}` {_answer(asked)} {traced(body)}; the branch of the first call is kept"
        advice = "ask in the compiled region or in its caller, and pass the answer as an argument"
        yield report(RULE, body, query, message, help=advice)


def _answer(asked: str) -> str:
    """What is wrong with the answer to a question: the text of an expression such as `x.is_leaf` or `id(x)`."""
    if ".__class__" in asked:
        return _ANSWERS["type"]
    function, call, _ = asked.partition("(")
    last = function.rpartition(".")[2]
    if last.endswith("_compiling"):
        return _COMPILING
    if last in _ANSWERS:
        return _ANSWERS[last]
    asks_for_attribute = last in {"getattr", "hasattr"} or (not call and last not in _AUTOGRAD)
    return _ATTACHED if asks_for_attribute else _UNGUARDED


RULE = Rule(
    code="NST106",
    name="unguarded-argument-property",
    severity=Severity.WARNING,
    summary="The result depends on a property of an argument that tracing changes or does not guard.",
    documentation=__doc__ or "",
    markers=TRACED,
    examine=examine,
    experiment=Experiment.CHANGE,
)
