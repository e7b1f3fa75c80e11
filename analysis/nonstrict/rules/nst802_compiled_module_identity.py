"""# compiled-module-identity (NST802)

## What it does

Finds code that takes what `torch.compile` made of a module for the module: its state is saved or loaded elsewhere, or
`isinstance` is asked of it.

## Why is this bad

`torch.compile(module)` returns another module, an `OptimizedModule`, with the one that it was given inside, as
`_orig_mod`. It hands on attributes and methods, and is something else where identity counts:

- The keys of `compiled.state_dict()` begin with `_orig_mod.`. Loaded into the plain module, such a checkpoint is
  refused; with `strict=False` nothing of it is loaded, and nothing is said. The other way round it is the same.
- `isinstance(compiled, Net)` is false.

Whether a program compiles is often an option, so that the checkpoints of one run do not fit the next.

## Example

```python
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


def main():
    net = torch.compile(Net())
    print(net(torch.ones(1, 3)).shape)
    print(isinstance(net, Net))  # warning: [NST802]
    other = Net()
    print(other.load_state_dict(net.state_dict(), strict=False))  # error: [NST802]


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)


def main():
    net = Net()
    net.compile()
    print(net(torch.ones(1, 3)).shape)
    print(isinstance(net, Net))
    other = Net()
    print(other.load_state_dict(net.state_dict()))


if __name__ == "__main__":
    main()
```

`Module.compile()` compiles the module in place, with the same options: it stays what it is.

## Fix safety

`net = torch.compile(net)` becomes `net.compile()`: unsafe, as checkpoints with the old keys no longer fit.

## What is not reported

- Programs that name `_orig_mod`: they know of the wrapper, and take it off.
- State that is loaded into a wrapper again, and state that goes elsewhere than into a file or a module.
- `isinstance(compiled, torch.nn.Module)`, which is true, and classes that the module is no instance of either.
- Copies and pickles of a wrapper (`copy.deepcopy`, `torch.save(compiled)`): they are wrappers with the same options.
- Attributes that are assigned on the wrapper: the module gets them.

## References

- [Saving and loading compiled modules](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)
- [torch.nn.Module.compile](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.compile)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Related, Severity
from nonstrict.rules.base import WRAPPED, Experiment, Rule, report_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.regions.misapplied import Misuse
    from nonstrict.rules.base import Body

_ADVICE = "compile the module in place, with `module.compile()`: it stays what it is"
_OTHERS = {
    "saved": "saved here",
    "plain-into-wrapper": "the state comes from here",
    "wrapper-into-plain": "the state comes from here",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the places where the wrapper is taken for the module."""
    for misuse in body.applied.misused:
        severity = Severity.ERROR if misuse.how in ("plain-into-wrapper", "wrapper-into-plain") else Severity.WARNING
        evidence = (Related(misuse.other, _OTHERS[misuse.how]),) if misuse.other is not None else ()
        found = report_at(RULE, body, misuse.span, _message(misuse), help=_ADVICE, severity=severity, evidence=evidence)
        yield found._replace(marker="compiled")


def _message(misuse: Misuse) -> str:
    if misuse.how == "isinstance":
        return (
            f"`isinstance` is false: `torch.compile` returns an `OptimizedModule` around the `{misuse.text}`, and no "
            f"`{misuse.text}`"
        )
    if misuse.how == "saved":
        return (
            "the state of what `torch.compile` returned is saved: its keys begin with `_orig_mod.`, and do not fit the "
            "module itself"
        )
    refused = "it is refused" if misuse.strict else "with `strict=False` nothing of it is loaded, without a word"
    if misuse.how == "plain-into-wrapper":
        return (
            f"the keys of the wrapper of `torch.compile` begin with `_orig_mod.`, those of this state do not: {refused}"
        )
    return f"the keys of this state begin with `_orig_mod.`, as it is that of what `torch.compile` returned: {refused}"


def fixes(context: Context) -> Iterator[Fix]:
    """Compile the module in place."""
    from nonstrict.fixes.marks import compiling

    yield from compiling.in_place(context)


RULE = Rule(
    code="NST802",
    name="compiled-module-identity",
    severity=Severity.WARNING,
    summary="What torch.compile made of a module is taken for the module: its state, its class.",
    documentation=__doc__ or "",
    markers=WRAPPED,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.IDENTITY,
)
