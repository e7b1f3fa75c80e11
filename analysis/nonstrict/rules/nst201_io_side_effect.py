"""# io-side-effect (NST201)

## What it does

Finds input and output in a traced function and in everything it calls: `print`, logging, `warnings.warn`, files,
network, subprocesses, progress bars, experiment trackers, and writes to the environment.

## Why is this bad

The Python code of the function runs while the compiler traces it, and never again. On torch 2.13 that is three times
for each compilation with `aot_eager` and `inductor`. A line that should appear once per call appears three times at the
first call and then never; tensors show up as `FakeTensor(...)`, without values. `make_fx` and `torch.export` run it
once. There is no error.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def attend(query, key):
    print("attention over", tuple(key.shape))  # warning: [NST201]
    return query @ key.t()


@torch.compile(fullgraph=True)
def forward(query, key):
    return attend(query, key)


def main():
    for _ in range(2):
        forward(torch.ones(2, 4), torch.ones(3, 4))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def attend(query, key):
    return query @ key.t()


@torch.compile(fullgraph=True)
def forward(query, key):
    return attend(query, key)


def main():
    for _ in range(2):
        key = torch.ones(3, 4)
        print("attention over", tuple(key.shape))
        forward(torch.ones(2, 4), key)


if __name__ == "__main__":
    main()
```

What is known only inside the function can be returned and printed by the caller of the compiled region. If the trace is
what you want to log, keep the line and say so: `# nonstrict: ignore[NST201]  logs each compilation`.

## Fix safety

All fixes are unsafe: only you know whether the output was meant for every call or for the first one.

- The call moves in front of each call of the function, up to where no compiler traces, if it needs only what the
  callers have: arguments, and names of the module. An argument that is no plain name gets one first. There is no such
  fix where some use of the function is not a plain call, where the call is behind a condition, or where the function
  computes what it tells.
- A condition that does something when it is evaluated moves with what it guards.
- The statement is removed, with a condition that then guards nothing else. What is computed for it must have no effect.
  This is only shown, never applied, where more is lost than a message: a file, a process, the environment.
- A progress bar is replaced by what it wraps.
- The function becomes a `torch.library.custom_op` with a generated fake, or a leaf function where that compiles; no
  operator is made of a function that does more than tell something, as torch may leave out or repeat its calls.

## What is not reported

- Output guarded by a question whether the compiler traces (`if not torch.compiler.is_compiling():`).
- Output behind a flag at the top level that is false, and that no code of the project binds anew.
- Text that is printed into an `io.StringIO` made in the traced code.
- Raising an exception.
- Functions marked `leaf_function`, whose Python code runs at every call.
- Output in hooks and in `autograd.Function.backward`: see `hook-side-effect` (NST209).
- Output behind `functools.cache`: plain Python writes it once too.
- In a nested function or lambda that only `make_fx` is given it is a note.
- In a function marked `assume_constant_result` it is a note: that function is meant to run once.

## References

- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.effect_texts import effect_severity, trace_time_only

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the input and output that happens outside hooks."""
    for seen in body.observed(Event.IO):
        if seen.in_hook:
            continue
        what = seen.effect.what or "has an effect outside the program"
        message = f"this {what} {trace_time_only(body)}"
        advice = "move it to the caller of the compiled region; return what it needs to know"
        yield report(RULE, body, seen, message, help=advice, severity=effect_severity(RULE, body))


def fixes(context: Context) -> Iterator[Fix]:
    """Move it to the caller, remove it, or make an operator of the function."""
    from nonstrict.fixes.effects.moving import move_call, move_condition
    from nonstrict.fixes.effects.removing import remove, remove_progress_bar
    from nonstrict.fixes.operators.wrapping import as_custom_op, as_leaf

    yield from move_condition(context)
    yield from move_call(context)
    if context.finding.severity > Severity.NOTE:
        # Under `assume_constant_result` it may well be meant to happen once.
        yield from remove(context)
        yield from remove_progress_bar(context)
    if context.body.marker != "make-fx":
        yield from as_leaf(context)
        if all(seen.effect.telling for seen in context.body.observed(Event.IO)):
            yield from as_custom_op(context)


RULE = Rule(
    code="NST201",
    name="io-side-effect",
    severity=Severity.WARNING,
    summary="A traced function prints, logs, or reads or writes files, which happens while tracing and never again.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
    gathered="read or write outside the program: once per compilation, when its result is frozen",
)
