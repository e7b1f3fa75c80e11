"""# tensor-escape (NST402)

## What it does

Finds traced functions that turn tensor data into Python values: `.item()`, `.tolist()`, `int(t)`, `float(t)`,
`bool(t)`, `if t:`, `while t:`, `assert t`, `max(t, u)`, `.numpy()`, `np.asarray(t)`, `torch.equal`, `torch.allclose`,
`f"{t:.2f}"`, `copy.deepcopy(t)`, `pickle.dumps(t)`. Shapes that depend on data count when they are used up inside:
`x[mask]`, `torch.unique(x)`, the number of rows of `torch.nonzero(x)`, `F.one_hot(x)` without `num_classes`.

A number or size that follows from data has to be found in what the function returns: as a number, or as a dimension of
a tensor, by itself or times a constant. torch makes a symbol for it and looks for that symbol; a sum of two, a slice
without `torch._check`, one part of `x.split(sizes.tolist())` and a sum over the dimension do not show it. A number on
which something is decided (`if n > 3`, `int(n)`, `len(x[mask])`) fails even where it is returned.

In a function marked `assume_constant_result` it finds where the result is made of the data of arguments.

## Why is this bad

While the compiler traces, tensors have no data. With every backend the compile fails, with a message about an
unsupported output type, a data-dependent expression or a pending unbacked symbol. Several of these work in a plain
compiled region, where Dynamo handles them, and fail only once the code has moved into a `nonstrict_trace` function.

`assume_constant_result` runs the function with the real tensors of the first call and keeps what it returns: nothing
guards the data of arguments, so later calls get the result of the first one, without a word.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def clip(x, limit):
    norm = x.norm()
    if norm > limit:  # error: [NST402]
        x = x * (limit / norm)
    return x


@torch.compile(fullgraph=True)
def forward(x):
    return clip(x, 1.0)


def main():
    print(forward(torch.ones(4)))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def clip(x, limit):
    norm = x.norm()
    return x * torch.where(norm > limit, limit / norm, 1.0)


@torch.compile(fullgraph=True)
def forward(x):
    return clip(x, 1.0)


def main():
    print(forward(torch.ones(4)))


if __name__ == "__main__":
    main()
```

Keep the decision in tensors (`torch.where`, `torch.cond`, `masked_fill`), or return the tensor and decide in the
caller.

## Fix safety

All fixes are unsafe: what they compute is the same but for rounding and dtypes in corner cases, and the type of an
exception.

- A branch becomes `torch.where`, if both sides only compute, and are elementwise in the same tensors. Both sides are
  then computed, and a gradient that is not finite in the side not chosen spoils the other.
- A branch becomes `torch.cond`, if both sides only compute, and give new tensors of one shape and dtype. One side is
  computed, chosen when the compiled code runs. Called without the compiler, `torch.cond` compiles for itself.
- `t.item()`, `int(t)` and `float(t)` become tensors without dimensions, if they only take part in arithmetic with
  tensors; no gradient flows through them, as before. It is a copy if anything may change the tensor afterwards.
- `return float(t)` becomes `return t.item()`, and in the same way `int`, `bool` and `torch.equal`, if the number is
  only returned. Where tensors that `torch.equal` compares may have several shapes, their shapes are compared first, and
  a branch that it decides stays. `return t.numpy()` becomes `return t`, which is shown and not applied by `--fix`:
  callers get a tensor.
- `assert` becomes `torch._assert_async`, which raises RuntimeError when the compiled code runs. It gets a message,
  without which the compiler removes it.
- `torch.nonzero(t).shape[0]` in arithmetic becomes `torch.count_nonzero(t)`, `sum(t.tolist())` becomes `t.sum()`,
  `copy.deepcopy(t)` becomes `t.clone()`, `max(a, b)` becomes `torch.maximum(a, b)`, and `sorted([a, b])[0]` uses
  `torch.sort`.
- A message, or a value that nothing uses, is removed.

## What is not reported

- `.item()` and `.tolist()` whose value is returned, or is by itself a dimension of a tensor that is returned whole:
  `torch.zeros(n)`, all parts of `x.split(sizes.tolist())`. The same size of something else does as well.
- A slice that such a number bounds, where the number and the slice are returned: the slice has a size of its own,
  unless the number cannot be negative (`torch._check(n >= 0)`).
- Sizes made with the `.item()` of an argument itself: of an integer that a region is given, torch knows the number. So
  is any other use that asks for no Python value, where all calls pass what `torch.tensor` makes of a whole number.
- `torch.nonzero(x)`, `x[mask]` and similar that are returned, also with elementwise arithmetic behind them, and
  `x[mask] = 0`, whose shape does not depend on data.
- `.item()` in `autograd.Function.backward`.
- `int(x.shape[0])`, `len(x)`, `x.numel()`, comparisons of shapes, `x is None`, `x in [x]`.
- `torch.tensor(3.0).item()`: torch knows the value of a literal.
- In a function marked `assume_constant_result`: shapes and dtypes, which are guarded, and tensors that no call changes
  (what a global or a module holds).
- Under `torch.export.export`, `.item()`, `x[mask]` and the like, which export supports.

## References

- [Dynamic shapes and unbacked symbols](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/dynamic_shapes_advanced_control_options.html)
- [torch.cond](https://docs.pytorch.org/docs/stable/cond.html)
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import FROZEN, Experiment, Rule, report, report_at
from nonstrict.rules.captures import called
from nonstrict.rules.effect_texts import clause
from nonstrict.rules.frozen import argument_data, is_traced, returns_data

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body

#: What `make_fx` and `torch.export` record as an unbacked value where `nonstrict_trace` fails.
_UNBACKED = ("item", "tolist", "mask", "unique", "nonzero", "one_hot", "masked_select", "argwhere")

_ADVICE = "keep the decision in tensors (`torch.where`, `torch.cond`), or return the tensor and decide in the caller"


def examine(body: Body) -> Iterator[Finding]:
    """Yield the operations that need the data of a tensor as a Python value."""
    if body.marker == "constant-result":
        yield from _frozen(body) if not is_traced(body) else ()
        return
    for seen in body.observed(Event.ESCAPE):
        if seen.in_hook or body.knows_number(seen):
            continue
        what = seen.effect.what
        severity = RULE.severity
        if body.marker == "make-fx" and any(name in what for name in _UNBACKED):
            if "make_fx" not in body.api or isinstance(seen.effect.node, ast.Slice):
                continue  # a slice takes the bound of the example, as what made it tells
            severity = Severity.WARNING
        message = (
            f"{clause(what, 'needs the data of a tensor')}, but tensors have no data while `{body.api}` traces "
            f"`{body.function}`: {_fate(body, what)}"
        )
        yield report(RULE, body, seen, message, help=_ADVICE, severity=severity)


def _frozen(body: Body) -> Iterator[Finding]:
    """Yield what of a constant result depends on the data of arguments."""
    fate = f"`{body.api}` keeps the result of the first call of `{called(body)}`, also when that data is another one"
    advice = "compute it in the compiled region, or mark the function with `nonstrict_trace` and return a tensor"
    for seen, given in argument_data(body):
        whose = "the data of an argument" if given else "the data of parameters"
        message = f"{clause(seen.effect.what, 'reads')} {whose}, which nothing guards: {fate}"
        severity = Severity.ERROR if given else Severity.WARNING
        yield report(RULE, body, seen, message, help=advice, severity=severity)
    for result in body.given:
        if returns_data(body, result.value):
            message = f"this tensor is computed from the data of an argument, which nothing guards: {fate}"
            yield report_at(RULE, body, result.span, message, help=advice)


def _fate(body: Body, what: str) -> str:
    if body.marker == "make-fx":
        return "tracing fails, or bakes in the value of the example input"
    if what.startswith("format"):
        return "torch.compile fails, or the text of a stand-in is baked in"
    return "torch.compile fails with every backend"


def fixes(context: Context) -> Iterator[Fix]:
    """Keep the data in tensors."""
    from nonstrict.fixes.effects.checks import assert_in_graph
    from nonstrict.fixes.effects.removing import remove_unused
    from nonstrict.fixes.tensors.branches import choose
    from nonstrict.fixes.tensors.kept_branches import keep_by_data
    from nonstrict.fixes.tensors.returned import return_item, return_tensor
    from nonstrict.fixes.tensors.rewrites import clone, larger, sort_in_tensor
    from nonstrict.fixes.tensors.scalars import count_in_tensor, keep_tensor, sum_in_tensor

    yield from choose(context)
    yield from keep_by_data(context)
    yield from assert_in_graph(context)
    yield from keep_tensor(context)
    yield from return_item(context)
    yield from return_tensor(context)
    yield from count_in_tensor(context)
    yield from sum_in_tensor(context)
    yield from larger(context)
    yield from sort_in_tensor(context)
    yield from clone(context)
    yield from remove_unused(context)


RULE = Rule(
    code="NST402",
    name="tensor-escape",
    severity=Severity.ERROR,
    summary="A traced function needs the data of a tensor as a Python value, which does not exist while tracing.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.REFUSAL,
    gathered="need the data of tensors: its result is frozen at the first compilation",
)
