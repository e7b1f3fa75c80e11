"""# cross-boundary-effect (NST206)

## What it does

Finds state that a compiled region and a marked function pass to each other behind the compiler's back, within one
call: the region writes what the body reads, or the region reads afterwards what the body changed.

## Why is this bad

Dynamo does not carry out the Python writes of a region while it traces: it applies them when the compiled code has
run. The body is run during tracing, and reads what was there before. So the body sees the state of the previous call,
or of none, and keeps it. In the other direction a container that the body changes is changed while tracing (three
times) and never again.

Leaf functions and custom operators do run with the compiled code, but before Dynamo applies what the region wrote: they
read what was there before. What they change, the region has read while it was traced.

## Example

```python
import torch

current_scale = 0


@torch._dynamo.nonstrict_trace
def apply_scale(x):
    return x * current_scale  # error: [NST206]


@torch.compile(fullgraph=True)
def forward(x, scale):
    global current_scale
    current_scale = scale
    return apply_scale(x)


def main():
    print(forward(torch.ones(3), 2))
    print(forward(torch.ones(3), 2))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch


@torch._dynamo.nonstrict_trace
def apply_scale(x, scale):
    return x * scale


@torch.compile(fullgraph=True)
def forward(x, scale):
    return apply_scale(x, scale)


def main():
    print(forward(torch.ones(3), 2))
    print(forward(torch.ones(3), 2))


if __name__ == "__main__":
    main()
```

## Fix safety

State that the region wrote becomes an argument, which the region reads after its write. There is no fix for what the
body changes and the region reads.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, an object of unknown class.

## What is not reported

- In-place changes of tensor arguments and of registered buffers: both sides see them.
- Fields of an argument that the region sets before the call, and lists that it passes on.
- A global or attribute that the body rebinds and the region reads afterwards: Dynamo carries that over (NST203 tells of
  the write).

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.rules.base import TRACED, Experiment, Rule, report
from nonstrict.rules.captures import called, reads_metadata

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.rules.base import Body


#: Markers of functions that the compiled code runs, before it applies what the region wrote in Python.
_RUN = frozenset({"leaf", "custom-op"})


def examine(body: Body) -> Iterator[Finding]:
    """Yield reads of what the region wrote before the call, and changes of what it reads afterwards."""
    for seen in body.observed(Event.READ, Event.ATTRIBUTE, Event.MODE):
        place = seen.effect.place
        if seen.effect.event is Event.MODE:
            place = place.step(".training")
        if reads_metadata(seen):
            continue  # changes in place keep it
        evidence = body.written_by_region(place) if place.captured or place.path else ()
        if evidence:
            message = (
                f"`{place.text}` is written by the region that calls `{called(body)}`: the write happens after the "
                "compiled code has run, so this reads what was there before"
            )
            advice = f"pass `{place.text}` as an argument"
            yield report(RULE, body, seen, message, help=advice, evidence=evidence)
    for seen in body.observed(Event.WRITE):
        evidence = body.read_by_region(seen.effect)
        if evidence:
            name = seen.effect.place.text
            message = (
                f"`{name}` is changed by `{called(body)}` when it runs, but the region read it while tracing"
                if body.marker in _RUN
                else f"`{name}` is changed while `{called(body)}` is traced, and read by the region "
                "afterwards: compiled calls do not change it any more"
            )
            yield report(RULE, body, seen, message, help="return what the region needs", evidence=evidence)


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument; the fake of a function that runs would need it too."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute

    if context.body.marker not in _RUN:
        yield from pass_captured(context)
        yield from pass_attribute(context)


RULE = Rule(
    code="NST206",
    name="cross-boundary-effect",
    severity=Severity.ERROR,
    summary="A region and a marked function that it calls pass state to each other behind the compiler's back.",
    documentation=__doc__ or "",
    markers=(TRACED - {"make-fx"}) | _RUN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
)
