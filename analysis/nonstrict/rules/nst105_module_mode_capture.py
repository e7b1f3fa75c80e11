"""# module-mode-capture (NST105)

## What it does

Finds traced functions whose result depends on Python state of a module they get as an argument (or as `self`): its
training mode, read directly or through a submodule such as `nn.Dropout` or `nn.BatchNorm2d`, and plain attributes,
which are neither parameters nor buffers.

## Why is this bad

Of a module argument torch tracks the parameters, the buffers and the submodules, and nothing else. The mode and the
plain attributes of the first call are kept, with `aot_eager` and `inductor`: after `model.eval()` dropout still drops
and batch normalisation still updates its statistics. A plain attribute that is a *tensor* is worse: with `inductor`
the compile fails. A method marked `assume_constant_result` keeps its result, and with it the mode and the attributes
that it was made of.

## Example

```python
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(p=0.999)

    def forward(self, hidden):
        return drop(self.dropout, hidden)


@torch._dynamo.nonstrict_trace
def drop(layer, hidden):
    return layer(hidden)  # warning: [NST105]


def main():
    head = Head()
    compiled = torch.compile(head, fullgraph=True)
    hidden = torch.ones(4)
    print(compiled(hidden).shape)
    head.eval()
    print(compiled(hidden))


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.dropout = nn.Dropout(p=0.999)

    def forward(self, hidden):
        return drop(hidden, self.dropout.p, self.training)


@torch._dynamo.nonstrict_trace
def drop(hidden, probability, training):
    return nn.functional.dropout(hidden, probability, training)


def main():
    head = Head()
    compiled = torch.compile(head, fullgraph=True)
    hidden = torch.ones(4)
    print(compiled(hidden).shape)
    head.eval()
    print(compiled(hidden))


if __name__ == "__main__":
    main()
```

It is enough that the region reads `module.training`: then Dynamo guards it, and compiles once per mode.

## Fix safety

The flag or attribute becomes a parameter where the function itself reads it: `training`, passed as `module.training` in
every call. Where a layer or a `forward` reads it, the marked function gets the parameter, so that the region reads the
flag and guards it; a call of a dropout layer becomes `torch.nn.functional.dropout`, which takes the flag. Of several
layers the mode of the module that holds them is passed, or that of each if the project switches one of them alone.
There is no fix in a function marked `assume_constant_result`, for a plain tensor attribute, for an `nn.Sequential` of
which the project switches parts, nor where no call can write the module.

Methods that override one of these functions, or that it overrides, get the parameter too; where it is a `forward`, the
calls of the modules pass it.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, an object of unknown class, a module in `nn.Sequential`.

## What is not reported

- Modules whose code shows no dependence on the mode or on plain attributes.
- Calls where the region reads or passes the `training` flag, or the plain attribute, itself: then it is guarded.
- Plain attributes of Python values that nothing in the project assigns after construction.
- Dependence on the mode is only a note if nothing in the project calls `eval()` or `train()`. In a function marked
  `assume_constant_result` it is none then, and neither are attributes that nothing changes.
- Captured modules, which have worse problems: see `module-capture` (NST103).

## References

- [torch.nn.Module.eval](https://docs.pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.eval)
- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.effects import Event
from nonstrict.program.values import Flag, Kind
from nonstrict.rules.base import FROZEN, Experiment, Rule, report
from nonstrict.rules.captures import Sort, called, sort_of, traced
from nonstrict.rules.frozen import is_traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.effects import Observed
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield what depends on the mode or the plain attributes of module arguments."""
    if body.marker == "constant-result" and is_traced(body):
        return
    modes = [read for read in body.observed(Event.MODE) if not read.effect.place.captured]
    if modes and not _every_region_passes_mode(body) and not body.mode_guarded:
        writers = body.mode_writers()
        for read in modes if writers or body.marker != "constant-result" else ():
            yield _mode(body, read, writers)
    caches = {leak.effect.place for leak in body.observed(Event.LEAK) if leak.effect.lazy}
    for read in body.observed(Event.ATTRIBUTE):
        place = read.effect.place
        if place not in caches and not place.captured and not body.guarded_by_region(place):
            yield from _attribute(body, read)


def _mode(body: Body, read: Observed, writers: tuple[Related, ...]) -> Finding:
    module, who = read.effect.place.text, read.effect.what
    cause = f", through `{who}`" if who not in {"", "training"} else ""
    message = (
        f"the result depends on the training mode of `{module}`{cause}, which is not guarded {_when(body)}: the mode "
        "of the first call is kept, also after `eval()` or `train()`"
    )
    advice = f"pass `{module}.training` as an argument, or read it in the compiled region"
    severity = Severity.WARNING if writers else Severity.NOTE
    return report(RULE, body, read, message, help=advice, severity=severity, evidence=writers)


def _attribute(body: Body, read: Observed) -> Iterator[Finding]:
    place = read.effect.place
    own = {seen.effect.span for seen in body.observed(Event.WRITE, Event.LEAK)}
    writers = tuple(writer for writer in body.writers(place) if writer.span not in own)
    frozen = body.marker == "constant-result"
    if sort_of(read.effect.value) is Sort.TENSOR and not frozen:
        advice = "register it as a buffer: `register_buffer(name, tensor)`"
        yield report(RULE, body, read, _tensor_message(body, read), help=advice, severity=_bad(body), evidence=writers)
    elif read.effect.value.kind is Kind.MODULE and not frozen:
        if body.holds_apart(read.effect):
            advice = "register it: `nn.ModuleList`, `nn.ModuleDict`, or an attribute of its own"
            yield report(RULE, body, read, _apart_message(body, read), help=advice, severity=_bad(body))
    elif writers and (frozen or not body.written_by_region(place)):
        held = "is held by" if len(place.path) > 1 and read.effect.value.flags & Flag.INSIDE else "is"
        message = (
            f"`{place.text}` {held} a plain attribute of a module argument, which is not guarded {_when(body)}: its "
            "value at the first call is kept, also after it is changed"
        )
        advice = "pass it as an argument of its own"
        yield report(RULE, body, read, message, help=advice, evidence=writers)


def _when(body: Body) -> str:
    if body.marker == "constant-result":
        return f"when `{body.api}` freezes the result of `{called(body)}`"
    return traced(body)


def _tensor_message(body: Body, read: Observed) -> str:
    name = read.effect.place.text
    if body.marker == "make-fx":
        return f"`{name}` is a plain tensor attribute, no buffer: it is baked into the graph {traced(body)}"
    return (
        f"`{name}` is a plain tensor attribute, no buffer, read {traced(body)}: torch.compile fails with inductor, its "
        "default backend; with aot_eager the tensor of the first call is kept"
    )


def _apart_message(body: Body, read: Observed) -> str:
    name = read.effect.place.text
    if body.marker == "make-fx":
        return f"`{name}` is in a plain container, not registered: its parameters are baked in {traced(body)}"
    return (
        f"`{name}` is a module in a plain container, which torch does not see, used {traced(body)}: torch.compile "
        "fails with inductor, its default backend; with aot_eager its parameters are kept, and get no gradient"
    )


def _bad(body: Body) -> Severity:
    return Severity.NOTE if body.marker == "make-fx" else Severity.ERROR


def _every_region_passes_mode(body: Body) -> bool:
    compiled = [site for site in body.sites if site.compiled]
    return bool(compiled) and all(site.passes_mode for site in compiled)


def fixes(context: Context) -> Iterator[Fix]:
    """Pass the flag or the attribute as an argument of its own."""
    from nonstrict.fixes.captures.guarded import pass_flag

    yield from pass_flag(context)


RULE = Rule(
    code="NST105",
    name="module-mode-capture",
    severity=Severity.WARNING,
    summary="The result depends on the training mode or a plain attribute of a module, which are not guarded.",
    documentation=__doc__ or "",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
    gathered="read attributes of modules which nothing guards: its result is frozen at the first compilation",
)
