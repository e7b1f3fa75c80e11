"""# traced-tensor-leak (NST207)

## What it does

Finds tensors made or received in a traced function that are stored outside of it: in a global, a variable of the
enclosing function, an attribute of a module or object (`self.cos_cached = ...`), a memo dict, or the cache of
`functools.lru_cache`. Hooks of the modules that it calls, which keep what these return, count too.

## Why is this bad

While the compiler traces, every tensor is a stand-in without data (`FakeTensor`, `FunctionalTensor`). The stand-in
is what stays behind in the cache. The next call finds it and mixes it with real tensors: a run-time error with
`aot_eager`, `Mixing fake modes NYI` while compiling with `inductor`, and with `backend="eager"` the compiled function
even returns a `FakeTensor`. A cache filled before compilation is no way out: its tensor is then captured (NST101).

## Example

```python
import functools

import torch

@functools.lru_cache  # error: [NST207]
def positions(length):
    return torch.arange(float(length))


@torch._dynamo.nonstrict_trace
def add_positions(x):
    return x + positions(x.shape[0])


@torch.compile(fullgraph=True)
def embed(x):
    return add_positions(x)


def main():
    for _ in range(2):
        print(embed(torch.ones(3)))
    print(positions(3) + 1)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import functools

import torch

@functools.lru_cache
def positions(length):
    return torch.arange(float(length))


@torch._dynamo.nonstrict_trace
def add_positions(x, table):
    return x + table


@torch.compile(fullgraph=True)
def embed(x, table):
    return add_positions(x, table)


def main():
    for _ in range(2):
        x = torch.ones(3)
        print(embed(x, positions(x.shape[0])))
    print(positions(3) + 1)


if __name__ == "__main__":
    main()
```

Or build the table inside the function each time: the compiler fuses it into the code that uses it. A module's table
belongs into a buffer registered in `__init__`.

## Fix safety

All fixes are unsafe. There is none for what a hook stores.

- `lru_cache` is removed, where nothing asks for the cache: the tensor is computed each time, and is a new one each
  time.
- What is built when it is first needed becomes a local variable, built each time, where nothing else reads it.
- The tensor becomes a further result, and each call of the function stores it. Only where the store stands at the level
  of the body, nothing in the function reads it afterwards, and every use of the function is a plain call.
- An assignment to an attribute that nothing reads is removed.

## What is not reported

- Caches that live and die in the function, and tensors that are returned.
- Tensors appended to an argument list or put into an argument dict: the copy that the compiler made of it is thrown
  away, which is `input-mutation` (NST202).
- Registered buffers that are assigned anew: their old value comes back, which is `input-mutation` (NST202).
- Numbers, shapes and other Python values: see `outer-mutation` (NST203).

## References

- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
- [Fake tensor](https://docs.pytorch.org/docs/stable/torch.compiler_fake_tensor.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import deed, outlives, target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the stores that outlive the trace, those in hooks and backward passes among them."""
    for seen in body.observed(Event.LEAK):
        effect = seen.effect
        if not outlives(effect):
            continue
        traced = f"while `{body.api}` traces `{body.function}`"
        if effect.what == "cache":
            subject = target(effect, "this function")
            message = f"the cache of {subject} keeps a fake tensor that it met {traced}. {_FATE}"
            advice = "drop the cache, or compute the tensor before compilation and pass it as an argument"
        else:
            subject = target(effect, "state outside the function")
            how = f"{deed(effect)} in a hook or backward pass" if seen.in_hook else deed(effect)
            message = f"a tensor is stored in {subject} by {how} {traced}: a fake tensor stays there. {_FATE}"
            advice = "return the tensor, or build it before compilation and pass it as an argument"
        yield report(RULE, body, seen, message, help=advice)


_FATE = "Later calls fail or compute with it"


def fixes(context: Context) -> Iterator[Fix]:
    """Do without the cache, or return what would be stored."""
    from nonstrict.fixes.effects.caches import compute_each_time, drop_cache, drop_store
    from nonstrict.fixes.effects.returning import return_value

    seen = context.observed(Event.LEAK)
    if seen is not None and seen.in_hook:
        return  # what a hook returns takes the place of what the module returned
    yield from drop_cache(context)
    yield from compute_each_time(context)
    yield from return_value(context)
    yield from drop_store(context)


RULE = Rule(
    code="NST207",
    name="traced-tensor-leak",
    severity=Severity.ERROR,
    summary="A traced function stores a tensor outside of it: a fake tensor stays behind and poisons later calls.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
)
