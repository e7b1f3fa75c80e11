"""# version-unsupported (NST605)

## What it does

Finds markers that the torch at hand does not have under the name used, or that cannot do there what they are used for:

- `torch.compiler.nonstrict_trace` before torch 2.14;
- `leaf_function` in a region compiled with inductor, the default backend: no version up to torch 2.15 compiles it.

A missing name is told where it is read: on the decorator, in the wrapper of the project, on the line of the alias.

The version is that of the installed torch, or the setting `torch-version`.

## Why is this bad

A name that does not exist is an `AttributeError` or `ImportError` when the module is imported. A leaf function compiles
with `aot_eager`, and fails with inductor on an `AssertionError`, whatever it does.

## Example

```python
import torch
from torch._dynamo.decorators import leaf_function


@leaf_function  # error: [NST605]
def doubled(x):
    return (x * 2,)


@doubled.register_fake
def _(x):
    return (torch.empty_like(x),)


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x)[0] + 1


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch.library.custom_op("example::doubled", mutates_args=())
def doubled(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@doubled.register_fake
def _(x):
    return torch.empty_like(x)


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x) + 1


def main():
    print(step(torch.ones(3)))


if __name__ == "__main__":
    main()
```

Instead of `torch.compiler.nonstrict_trace` use `torch._dynamo.nonstrict_trace`, which every supported version has.

## Fix safety

A marker that the torch at hand lacks gets the name that it has there, with its import: safe. A leaf function with a
fake becomes a custom operator: unsafe, as it has no derivative until `register_autograd` gives it one.

## What is not reported

- A name that is chosen by a version test, `hasattr`, `getattr` with a default, or an `except`; a function that reads
  it and is only used behind one. Tests of something else (`if torch.cuda.is_available():`, `if fn is None:`, a name
  that is a constant) protect nothing.
- Leaf functions of which every region that calls them names another backend. Where no region is in sight, a leaf
  function is a note.

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.knowledge.markers import LEAF_COMPILES, MARKERS, since, spellings
from nonstrict.program.marks.loose import ABSENT
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.nst602_conflicting_decorators import conflict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what the torch at hand lacks."""
    yield from _missing(body)
    if body.marker == "leaf" and body.torch < LEAF_COMPILES and conflict_of(body) is None:
        yield from _leaf(body)


def _missing(body: Body) -> Iterator[Finding]:
    spelling = body.applied.spelling
    marker = MARKERS.get(spelling)
    if marker is None or marker.since is None or body.torch >= since(marker.since):
        return
    if body.marker != ABSENT and body.applied.is_guarded:
        return
    others = spellings(marker.kind, body.torch)
    has = ".".join(map(str, body.torch))
    message = f"torch {has} has no `{spelling}`: it exists from torch {marker.since} on"
    advice = f"use `{others[0]}`" if others else f"require torch {marker.since}"
    found = report_at(RULE, body, body.marked_at, message, help=advice)
    yield found._replace(function="", marker=marker.kind) if body.marker == ABSENT else found


def _leaf(body: Body) -> Iterator[Finding]:
    calls = body.applied.compiled_calls
    if calls and all(call.backend != "inductor" for call in calls):
        return
    has = ".".join(map(str, body.torch))
    message = f"inductor, the default backend, cannot compile a leaf function in torch {has}: an assertion fails"
    advice = "use a `torch.library.custom_op` with `register_fake`, or compile with `backend='aot_eager'`"
    severity = Severity.ERROR if calls else Severity.NOTE
    yield report_at(RULE, body, body.marked_at, message, help=advice, severity=severity)


def fixes(context: Context) -> Iterator[Fix]:
    """Use what the torch at hand has."""
    from nonstrict.fixes.marks.markers import replace_missing
    from nonstrict.fixes.operators.wrapping import leaf_as_custom_op

    yield from replace_missing(context)
    if context.body.marker == "leaf":
        yield from leaf_as_custom_op(context)


RULE = Rule(
    code="NST605",
    name="version-unsupported",
    severity=Severity.ERROR,
    summary="The torch at hand does not have a marker under this name, or not for this use.",
    documentation=__doc__ or "",
    markers=frozenset({"nonstrict", "in-graph", "constant-result", "leaf", "custom-op", "make-fx", ABSENT}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
