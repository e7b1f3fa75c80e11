"""# input-mutation (NST202)

## What it does

Finds traced functions that change an argument which is a list, dict, set, dataclass, module or other object: `append`,
`pop`, `d[key] = ...`, `del d[key]`, `state.step += 1`, `self.count += 1`, a buffer that is assigned anew. Containers
inside the argument count too.

## Why is this bad

The compiler takes containers and registered dataclasses apart and builds copies of them for the traced function. The
copy is changed, the caller's object is not. Modules are passed as they are, so the assignment happens while tracing,
three times for each compilation on torch 2.13, and never when the compiled code runs; a buffer that is assigned anew
gets its old value back. No backend reports an error, and `backend="eager"` behaves differently from the others. Under
`allow_in_graph` changing a list or dict is an error.

## Example

```python
import torch


@torch._dynamo.nonstrict_trace
def keep_hidden(hidden, history):
    history.append(hidden)  # error: [NST202]
    return hidden * 2


@torch.compile(fullgraph=True)
def forward(hidden, history):
    return keep_hidden(hidden, history)


def main():
    history = []
    for _ in range(2):
        forward(torch.ones(3), history)
    print(len(history), "states kept")


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def double(hidden):
    return hidden * 2


@torch.compile(fullgraph=True)
def forward(hidden, history):
    history.append(hidden)
    return double(hidden)


def main():
    history = []
    for _ in range(2):
        forward(torch.ones(3), history)
    print(len(history), "states kept")


if __name__ == "__main__":
    main()
```

Return what is new, and let the caller or the compiled region store it: Dynamo tracks changes made there. Counters of a
module work as buffers that are changed in place (`self.count.add_(1)`).

## Fix safety

All fixes are unsafe: results or effects of plain Python change for callers that were not seen.

- The new value becomes a further result, and each call of the function stores it, as the function did before; a value
  that callers have anyway is stored without that. Only for `append`, an assignment or `+=` at the level of the body,
  whose effect nothing in the function sees afterwards, and where every use of the function is a plain call. A compiled
  region does it itself if that compiles once: assignments, and containers that it made. A counter or a list that grows
  goes up to the caller of the region, as Dynamo guards them, compiles for every value anew, and fails at the recompile
  limit.
- A registered buffer that is assigned anew is changed in place. The new value must have its shape and dtype.
- A container or dataclass is copied first, where the function uses more of it, and no caller that is known goes on
  using it: callers no longer see the change.

## What is not reported

- In-place operators on argument *tensors* (`x.add_(1)`, `x[0] = 0`, `out=x`) and on registered buffers: these work.
- Containers and objects made in the function, and copies of arguments.
- Attributes and metadata of an argument tensor: see `input-data-rebinding` (NST208).
- Changes in hooks: see `hook-side-effect` (NST209).

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
- [Non-strict tracing programming model](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.non_strict_tracing_model.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.places import Origin
from nonstrict.rules.base import Experiment, Rule, report
from nonstrict.rules.effect_texts import changes_copy, deed, target
from nonstrict.rules.stores import changes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.effects import Effect
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of arguments; one that stores a traced tensor on an object is NST207 besides."""
    for seen in changes(body, Event.WRITE, Event.LEAK):
        effect = seen.effect
        if seen.in_hook or effect.place.origin is not Origin.ARGUMENT or effect.what == "cache":
            continue
        if effect.lazy and effect.event is Event.LEAK and not changes_copy(effect):
            continue
        subject = target(effect, "an argument")
        kind = "argument " if effect.place.name and not effect.place.path else ""
        traced = f"while `{body.api}` traces `{body.function}`"
        message = f"{kind}{subject} is changed by {deed(effect)} {traced}: {_fate(body, effect)}"
        # What is set once, behind a test whether it is set, is the same however often that happens.
        severity = Severity.NOTE if effect.lazy and effect.event is Event.WRITE else None
        yield report(RULE, body, seen, message, help=_advice(effect), severity=severity)


def _fate(body: Body, effect: Effect) -> str:
    copied = changes_copy(effect)
    if body.marker == "make-fx":
        return "the resulting graph does not repeat it"
    if body.marker == "in-graph" and copied:
        return "torch.compile fails"
    if copied:
        return "only a copy changes, the caller's object does not"
    return "this does not happen when the compiled code runs"


def _advice(effect: Effect) -> str:
    if changes_copy(effect):
        return "return the new value and store it in the caller, or work on a copy"
    return "return the new value and assign it in the caller, or keep it in a registered buffer changed in place"


def fixes(context: Context) -> Iterator[Fix]:
    """Return what is new, change a buffer in place, or work on a copy."""
    from nonstrict.fixes.effects.buffers import change_in_place
    from nonstrict.fixes.effects.copying import copy_first
    from nonstrict.fixes.effects.returning import return_value

    yield from return_value(context)
    yield from change_in_place(context)
    yield from copy_first(context)


RULE = Rule(
    code="NST202",
    name="input-mutation",
    severity=Severity.ERROR,
    summary="A traced function changes an argument that is a container or object; the change is lost.",
    documentation=__doc__ or "",
    examine=examine,
    fixes=fixes,
    experiment=Experiment.EFFECT,
)
