"""# shape-branch (NST506)

## What it does

Finds branches on the shape of a tensor in a traced function. A note under `nonstrict_trace` and `allow_in_graph`, a
warning under `make_fx` and `aot_function`, an error where a dimension that a caller marked with `mark_dynamic` is
compared with one size.

## Why is this bad

The branch is decided while tracing. A compiled region guards what was decided and is compiled anew for other shapes,
which costs time. `make_fx` guards nothing: the graph holds one branch, and computes the wrong thing for other shapes,
silently. A comparison that fixes a dimension contradicts `mark_dynamic`: compilation fails with
`ConstraintViolationError`.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def to_grey(image):
    assert image.shape[0] == 3  # error: [NST506]
    return image.mean(0)


@torch.compile(fullgraph=True)
def step(image):
    return to_grey(image) + 1


def main():
    image = torch.ones(3, 4)
    torch._dynamo.mark_dynamic(image, 0)
    print(step(image))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def to_grey(image):
    assert image.shape[0] == 3
    return image.mean(0)


@torch.compile(fullgraph=True)
def step(image):
    return to_grey(image) + 1


def main():
    image = torch.ones(3, 4)
    torch._dynamo.mark_dynamic(image, 1)
    print(step(image))


if __name__ == "__main__":
    main()
```

Under `make_fx` with `tracing_mode="symbolic"`, `torch.cond` keeps both branches.

## Fix safety

A branch on one comparison of sizes, both sides of which compute one tensor of the same shape and dtype, becomes
`torch.cond`: unsafe, as a side that returned its argument returns a copy. Measured on 2.13:

- Under `nonstrict_trace`, where a dimension is dynamic, the graph keeps both branches, and is compiled once; an
  equality no longer contradicts `mark_dynamic`.
- Under `make_fx` it keeps both with `tracing_mode="symbolic"` only. With `"real"` (the default) and `"fake"` the sizes
  are plain numbers: `torch.cond` takes one side, as the branch does, and `torch.where` of a size holds the size that
  was traced. There is no fix there: trace symbolically, or once for each shape.
- `len(x)`, `and`, `or`, `not` and comparisons of whole shapes make a plain truth value, so that there is no fix.

## What is not reported

- Assertions and branches that only raise, unless they contradict `mark_dynamic`.
- Branches on the number of dimensions, the dtype or the device.
- Loops over a dimension.
- Branches in a graph of `make_fx` that is only used for the sizes it was traced for: it is kept under a key that tells
  them (`GRAPHS[tuple(x.shape)] = make_fx(f)(x)`, `lru_cache` over sizes), or only called with what it was traced with.

## References

- [Non-strict tracing](https://docs.pytorch.org/docs/main/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
- [torch.cond](https://docs.pytorch.org/docs/stable/cond.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import TRACED, Experiment, Rule, report
from nonstrict.rules.captures import called, traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

#: Exported programs check the shapes they get.
_CHECKED = frozenset({"export", "draft_export", "export_for_training"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield the branches on shapes."""
    for seen in body.observed(Event.SHAPE):
        checks = seen.effect.what == "check"
        contradicted = body.contradicted(seen.effect) if body.marker == "nonstrict" else ()
        if contradicted:
            message = (
                f"this fixes a dimension that a caller of `{called(body)}` marks as dynamic: compilation fails with "
                "ConstraintViolationError"
            )
            advice = "do not mark the dimension as dynamic, or do not compare it with one size"
            severity = Severity.ERROR if checks else Severity.WARNING
            yield report(RULE, body, seen, message, help=advice, severity=severity, evidence=contradicted)
        elif checks or body.kept_by_size(seen.effect):
            continue
        elif body.marker == "make-fx" and body.api not in _CHECKED:
            message = (
                f"a shape decides this branch {traced(body)}: the graph keeps the branch of the traced shape, and is "
                "wrong for others, silently"
            )
            severity = Severity.NOTE if body.private else Severity.WARNING
            advice = "use `torch.cond`, or trace once for each shape"
            yield report(RULE, body, seen, message, help=advice, severity=severity)
        else:
            message = f"a shape decides this branch {traced(body)}: other shapes are compiled for anew"
            yield report(RULE, body, seen, message, help="use `torch.cond` to keep both branches in one graph")


def fixes(context: Context) -> Iterator[Fix]:
    """Keep both branches with `torch.cond`, where that does."""
    from nonstrict.fixes.tensors.kept_branches import keep_by_size

    yield from keep_by_size(context)


RULE = Rule(
    code="NST506",
    name="shape-branch",
    severity=Severity.NOTE,
    summary="A branch on the shape of a tensor is decided while tracing.",
    documentation=__doc__ or "",
    markers=TRACED,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
)
