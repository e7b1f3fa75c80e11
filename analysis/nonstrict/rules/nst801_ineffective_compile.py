"""# ineffective-compile (NST801)

## What it does

Finds applications of `torch.compile` after which nothing is compiled: what it returns is dropped or bound to a name
that nobody calls, only methods of it are called that are not compiled, or what it is given only computes with numbers.

## Why is this bad

`torch.compile` returns something new and leaves what it is given as it is. Only calls of what it returned run compiled
code. Of a compiled module every method but `forward` is that of the module inside: `compiled.encode(x)` runs as plain
Python, and if `encode` calls `self(x)`, that is the module inside too. In a method, `self = torch.compile(self)` binds
a local name: whoever has the object goes on calling it uncompiled.

Of a function without an operation on tensors no graph is made, at later calls neither. Only with `dynamic=True`, or
under `fullgraph=True`, is arithmetic on numbers a graph.

Everything computes the same, so that nobody notices; the program is as slow as before.

## Example

```python
import torch
from torch._dynamo.utils import counters


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

    def encode(self, x):
        return self.linear(x).relu()


def main():
    compiled = torch.compile(Net())
    print(compiled.encode(torch.ones(1, 3)).shape)  # error: [NST801]
    print(counters["stats"]["unique_graphs"], "graphs")


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch._dynamo.utils import counters


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

    def encode(self, x):
        return self.linear(x).relu()


def main():
    net = Net()
    net.encode = torch.compile(net.encode)
    print(net.encode(torch.ones(1, 3)).shape)
    print(counters["stats"]["unique_graphs"], "graphs")


if __name__ == "__main__":
    main()
```

Where the module itself is called, `net.compile()` compiles it in place: the calls of all who have it run compiled code,
those in its own methods among them, and so do the optimizer and the trainer that were given it before.

## Fix safety

- `torch.compile(module)` as a statement, or bound to a name that nobody reads, becomes `module.compile()`, with the
  same options: safe where it is seen to be a module, and its class has no `compile` of its own.
- The result for a function is bound to its name, at the level of the module: safe.
- Methods that are called are compiled one by one: unsafe, as a graph may break in what ran as plain Python.

## What is not reported

- Results that are called, returned, passed on, stored in an attribute or container, or bound to a name that other files
  may import: somebody may call them.
- Parameters and state: the wrapper shares them with the module, so that an optimizer that was given either is right.
- An application in a `try` whose result is dropped: it may be a question whether torch can compile at all.
- `torch.compile(..., disable=True)`, and methods that are compiled by themselves.

## References

- [torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
- [torch.nn.Module.compile](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.compile)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Related, Severity
from nonstrict.program.values import Kind
from nonstrict.rules.base import COMPILED, INEFFECTIVE, Experiment, Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Span
    from nonstrict.fixes.context import Context
    from nonstrict.program.regions.misapplied import Wasted
    from nonstrict.rules.base import Body

_MESSAGES = {
    "dropped": "what `torch.compile` returns is dropped, and `{given}` itself stays as it is: nothing is compiled",
    "rebound": "`torch.compile` is bound to the parameter `{name}` of this function only, and nothing calls it there: "
    "whoever has the object goes on calling it uncompiled",
    "unused": "what `torch.compile` returns is bound to `{name}`, which is never called: nothing is compiled",
    "member": "nothing calls what `torch.compile` returns, only methods of it, which are not compiled",
}
_PAST = (
    "`{method}` runs uncompiled: of what `torch.compile` returned only `forward` is compiled, and nothing calls that"
)
_FORWARD = "`forward` runs uncompiled: after `{name}.compile()` only `{name}(...)` runs compiled code"
_TENSORLESS = "`{function}` has no operation on tensors: nothing of it is compiled"
_NUMBERS = "compile the function that computes with tensors; numbers are computed as fast without"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the application, or the calls that go past it."""
    if body.marker in COMPILED:
        if not body.fullgraph and body.applied.computes_no_tensor(body.arguments):
            yield report_at(RULE, body, body.marked_at, _TENSORLESS.format(function=body.function), help=_NUMBERS)
        return
    wasted = body.applied.wasted
    if wasted is None:
        return
    for span, message, evidence in _placed(body, wasted):
        found = report_at(RULE, body, span, message, help=_advice(body, wasted), evidence=evidence)
        yield found._replace(marker="compiled")


def _placed(body: Body, wasted: Wasted) -> Iterator[tuple[Span, str, tuple[Related, ...]]]:
    if wasted.how == "in-place":
        for _, span in wasted.past:
            yield span, _FORWARD.format(name=wasted.name), ()
    elif wasted.how == "member" and wasted.known:
        for method, span in wasted.past:
            yield span, _PAST.format(method=method), ()
    else:
        past = tuple(Related(span, f"`{method}` is called uncompiled here") for method, span in wasted.past)
        yield body.marked_at, _MESSAGES[wasted.how].format(given=wasted.given, name=wasted.name), past


def _advice(body: Body, wasted: Wasted) -> str:
    if wasted.how == "in-place":
        return f"call the module: `{wasted.name}(...)`"
    if wasted.how == "member" or (wasted.past and wasted.how == "unused"):
        method, held = wasted.past[0][0], wasted.name or wasted.given
        return f"compile the method: `{held}.{method} = torch.compile({held}.{method})`"
    if body.applied.target.kind is Kind.FUNCTION:
        return "keep what it returns, and call that"
    return f"`{wasted.given}.compile()` compiles a module in place; or keep what `torch.compile` returns, and call that"


def fixes(context: Context) -> Iterator[Fix]:
    """Compile the module in place, or the methods that are called."""
    from nonstrict.fixes.marks import compiling

    yield from compiling.effective(context)


RULE = Rule(
    code="NST801",
    name="ineffective-compile",
    severity=Severity.ERROR,
    summary="Nothing is compiled: what torch.compile returns is dropped, or never called.",
    documentation=__doc__ or "",
    markers=INEFFECTIVE | COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.COMPILED,
)
