"""# closure-tensor-capture (NST102)

## What it does

Finds tensors that a traced function holds without taking them from its caller: a variable of the enclosing function,
a default argument, a tensor bound by `functools.partial`, or a tensor attribute of the object whose bound method was
marked.

## Why is this bad

Only what the caller passes becomes an input of the compiled graph. A tensor from a closure is no input:

- with `inductor`, the default backend, reading its data is a compile error (`AssertionError: Please convert all
  Tensors to FakeTensors first`), even if it never changes;
- with `aot_eager` the tensor of the first call is held for ever: rebinding (`nonlocal`, new defaults, a new attribute)
  is not seen, and no gradient reaches it;
- under `allow_in_graph` it is an error with every backend;
- `make_fx` and `torch.export` bake it into the graph as a constant;
- a leaf function reads it anew in every call, but no gradient reaches it: a note, if it is made to need gradients.

## Example

```python
import torch


def make_filter(kernel):
    @torch._dynamo.nonstrict_trace
    def weigh(frame):
        return frame * kernel  # error: [NST102]

    def replace(new_kernel):
        nonlocal kernel
        kernel = new_kernel

    return weigh, replace


weigh, replace_kernel = make_filter(torch.tensor([1.0, 2.0, 3.0]))


@torch.compile(fullgraph=True)
def process(frame):
    return weigh(frame) + 1


def main():
    frame = torch.ones(3)
    print(process(frame))
    replace_kernel(torch.tensor([4.0, 5.0, 6.0]))
    print(process(frame))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def weigh(frame, kernel):
    return frame * kernel


@torch.compile(fullgraph=True)
def process(frame, kernel):
    return weigh(frame, kernel) + 1


def main():
    frame = torch.ones(3)
    print(process(frame, torch.tensor([1.0, 2.0, 3.0])))
    print(process(frame, torch.tensor([4.0, 5.0, 6.0])))


if __name__ == "__main__":
    main()
```

## Fix safety

A variable of the enclosing function becomes a parameter. Where callers do not see that variable, they pass what the
enclosing function was given for it, which gets a name if it has none; a parameter of the enclosing function that
nothing reads any more goes. A default argument, and what `functools.partial` binds, is passed in every call. A tensor
attribute of the object whose bound method was marked is read from it by the callers.

Methods that override one of these functions, or that it overrides, get the parameter too; where it is a `forward`, the
calls of the modules pass it.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, an object of unknown class, a module in `nn.Sequential`.

## What is not reported

- Python values from a closure: see `mutable-state-capture` (NST104).
- `nn.Parameter` and modules from a closure or bound receiver: see `module-capture` (NST103).
- In-place changes of the captured tensor: see `captured-tensor-mutation` (NST204).

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.places import Origin
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.captured_tensors import captured_tensor
from nonstrict.rules.captures import Sort, captured_reads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the reads of tensors from closures, defaults, partials and bound receivers."""
    for read in captured_reads(body, Sort.TENSOR):
        if read.effect.place.seen_as is not Origin.GLOBAL:
            verdict = captured_tensor(body, read)
            if verdict is not None:
                yield report(
                    RULE,
                    body,
                    read,
                    verdict.message,
                    help=verdict.help,
                    severity=verdict.severity,
                    evidence=verdict.writers,
                )


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default

    if context.body.marker == "leaf":
        return
    yield from pass_captured(context)
    yield from pass_attribute(context)
    yield from pass_default(context)
    yield from pass_bound(context)


RULE = Rule(
    code="NST102",
    name="closure-tensor-capture",
    severity=Severity.ERROR,
    summary="A traced function reads a tensor from its closure, a default argument, a partial or a bound object.",
    documentation=__doc__ or "",
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
    gathered="read captured tensors: its result is frozen at the first compilation",
)
