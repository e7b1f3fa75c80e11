"""# global-tensor-capture (NST101)

## What it does

Finds tensors that a traced function reaches through a module global: the global itself, an entry of a global
container (`CACHE["w"]`), an attribute of a global object (`CONFIG.w`), or a class attribute.

## Why is this bad

Only arguments become inputs of the compiled graph. A tensor that the function fetches by itself does not:

- with `inductor`, the default backend, reading its data is a compile error (`AssertionError: Please convert all
  Tensors to FakeTensors first`), even if it never changes;
- with `aot_eager` the tensor of the first call is held for ever. In-place updates of it are seen, rebinding the name
  is not, and no gradient reaches it;
- under `allow_in_graph` it is an error with every backend;
- `make_fx` and `torch.export` bake it into the graph as a constant;
- a leaf function reads it anew in every call, but no gradient reaches it: a note, if it is made to need gradients.

Reading only its metadata (`W.shape`, `torch.zeros_like(W)`) compiles, and is baked in: that is a warning where the
project rebinds the name, otherwise a note.

## Example

```python
import torch

gain = torch.tensor([1.0, 2.0, 3.0])


@torch._dynamo.nonstrict_trace
def amplify(signal):
    return signal * gain  # error: [NST101]


@torch.compile(fullgraph=True)
def process(signal):
    return amplify(signal) + 1


def main():
    global gain
    signal = torch.ones(3)
    print(process(signal))
    gain = torch.tensor([10.0, 20.0, 30.0])
    print(process(signal))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch

gain = torch.tensor([1.0, 2.0, 3.0])


@torch._dynamo.nonstrict_trace
def amplify(signal, gain):
    return signal * gain


@torch.compile(fullgraph=True)
def process(signal):
    return amplify(signal, gain) + 1


def main():
    global gain
    signal = torch.ones(3)
    print(process(signal))
    gain = torch.tensor([10.0, 20.0, 30.0])
    print(process(signal))


if __name__ == "__main__":
    main()
```

The region may read the global: Dynamo sees it there, makes it an input and guards it. A table that never changes can
also be built inside the traced function.

## Fix safety

The tensor becomes a parameter of the function that reads it and of all on the way from the marked function to it; every
call in the project passes it. Other callers, regions among them, read the global themselves, through its module where
it lives in another one, so that rebinding is seen. Of a container whose key varies the whole container is passed.

Methods that override one of these functions, or that it overrides, get the parameter too; where it is a `forward`, the
calls of the modules pass it.

Unsafe, as code that was not seen may call these functions too. There is no such fix where some use of one of them is
not a plain call: handed on as a value, called with `*args`, an object of unknown class, a module in `nn.Sequential`.

A tensor that `torch.tensor`, `zeros`, `arange` and the like make of literals, and that nothing changes, can also be
built where it is read. Unsafe: the default dtype and device are those of the call then.

## What is not reported

- Tensors built inside the function, and tensors passed as arguments.
- `nn.Parameter` and tensors of captured modules: see `module-capture` (NST103).
- In-place changes of the captured tensor: see `captured-tensor-mutation` (NST204).
- In a function marked `assume_constant_result`: tensors that nothing in the project changes.

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
    """Yield the reads of tensors that are reached through a module global."""
    for read in captured_reads(body, Sort.TENSOR):
        if read.effect.place.seen_as is Origin.GLOBAL:
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
    """Pass what is captured as an argument, or build it where it is read."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.built import build_inside

    if context.body.marker == "leaf":
        return
    yield from pass_captured(context)
    yield from build_inside(context)


RULE = Rule(
    code="NST101",
    name="global-tensor-capture",
    severity=Severity.ERROR,
    summary="A traced function reads a tensor through a module global instead of taking it as an argument.",
    documentation=__doc__ or "",
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
    gathered="read global tensors: its result is frozen at the first compilation",
)
