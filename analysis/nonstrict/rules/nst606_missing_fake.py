"""# missing-fake (NST606)

## What it does

Finds leaf functions and custom operators for which nothing registers a fake: a function that tells the compiler which
shapes and dtypes the results have.

## Why is this bad

The compiler does not look into these functions. Without a fake it cannot know what they return: a custom operator runs
in plain Python and fails in every compiled region, a leaf function is refused everywhere.

## Example

```python
import torch


@torch.library.custom_op("example::doubled", mutates_args=())  # error: [NST606]
def doubled(x: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(x.numpy() * 2)


@torch.compile(fullgraph=True)
def step(x):
    return doubled(x) + 1


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
    return torch.from_numpy(x.numpy() * 2)


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

## Fix safety

A fake is added behind the function. It returns what the function's text tells: tensors like the arguments, or the
sizes that the function computes. Safe: eager code does not run it. Unsafe where NumPy computes the result, which makes
other floating-point numbers of integers than torch.

Where the text does not tell, annotations of jaxtyping do (`Float[Tensor, "batch width"]`), or the calls that
[`nonstrict record`](../record.md) recorded: a size of the result that varied from call to call and always was one of an
argument, a number that was passed, or the product or sum of two sizes. Unsafe: other calls may tell another story.
Else display-only: a skeleton, with recorded sizes beside it.

## What is not reported

- A fake registered anywhere in the files that are checked: by a method of the operator, by name, for the key `Meta` of
  a `Library`, by a function of the project.
- Operators that declare what they change and return nothing, or are tagged `torch.Tag.inplace`: torch makes the fake.
- `triton_op` and composite implementations, which the compiler looks into.
- Operators with a computed name, and schemas whose implementation is not Python.

## References

- [torch.library.register_fake](https://docs.pytorch.org/docs/stable/library.html#torch.library.register_fake)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.values import Kind
from nonstrict.rules.base import Experiment, Rule, report_at
from nonstrict.rules.nst602_conflicting_decorators import conflict_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the declaration of an operator or leaf function that has no fake."""
    operator, declared_at = body.applied.operator, body.applied.declared_at
    if operator is None or declared_at is None or operator.has_fake or operator.traced or operator.inplace:
        return
    if operator.api != "leaf_function" and not operator.name:
        return
    if operator.mutates != frozenset() and _returns_nothing(body, operator.schema):
        return
    if conflict_of(body) is not None or body.applied.may_be_faked_elsewhere():
        return
    if operator.api == "leaf_function":
        message = f"leaf function `{body.function}` has no fake: every call of it raises"
    else:
        message = f"custom operator `{operator.name}` has no fake: no compiled region can call it"
    yield report_at(RULE, body, declared_at, message, help=_advice(operator.api, body.function))


def _returns_nothing(body: Body, schema: str) -> bool:
    if schema:
        return schema.rpartition("->")[2].strip() == "()"
    return body.returned.kind is Kind.NONE


def _advice(api: str, function: str) -> str:
    name = function.rpartition(".")[2]
    if api == "define":
        return "register one with `torch.library.register_fake`; it returns empty tensors like those of the operator"
    return f"add `@{name}.register_fake` on a function that takes the same arguments and returns empty tensors like it"


def fixes(context: Context) -> Iterator[Fix]:
    """Register a fake."""
    from nonstrict.fixes.operators.declaring import with_fake

    yield from with_fake(context)


RULE = Rule(
    code="NST606",
    name="missing-fake",
    severity=Severity.ERROR,
    summary="A leaf function or custom operator has no fake, so that no compiled region can call it.",
    documentation=__doc__ or "",
    markers=frozenset({"leaf", "custom-op"}),
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    experiment=Experiment.REFUSAL,
)
