"""# module-capture (NST103)

## What it does

Finds modules and parameters that a traced function captures: a global `nn.Module` that is called, a global
`nn.Parameter`, a module from a closure, and modules that were marked themselves (`nonstrict_trace(module)`,
`nonstrict_trace(module.forward)`).

## Why is this bad

The parameters of a module become inputs of the compiled graph only if the module is an argument. If it is captured:

- with `inductor`, the default backend, its parameters are a compile error (`AssertionError: Please convert all Tensors
  to FakeTensors first`);
- with `aot_eager` no gradient reaches them, without a word if another input needs one; parameters replaced later
  (`load_state_dict(assign=True)`, `module.weight = ...`) are not seen;
- on every backend that traces, the mode of the first call is kept: `module.eval()` does not turn dropout off.

A leaf function runs as it is written, and what it captures is read anew in every call. But gradients pass through its
arguments only: what it captures gets none, compiled or not, without a word. That is a note.

## Example

```python
import torch
from torch import nn

projection = nn.Linear(2, 2)


@torch._dynamo.nonstrict_trace
def project(hidden):
    return projection(hidden)  # error: [NST103]


@torch.compile(fullgraph=True)
def forward(hidden):
    return project(hidden).sum()


def main():
    nn.init.ones_(projection.weight)
    nn.init.zeros_(projection.bias)
    hidden = torch.ones(2, 2, requires_grad=True)
    forward(hidden).backward()
    print(hidden.grad)
    print(projection.weight.grad)


if __name__ == "__main__":
    main()
```

## Use instead

```python
import torch
from torch import nn

projection = nn.Linear(2, 2)


@torch._dynamo.nonstrict_trace
def project(layer, hidden):
    return layer(hidden)


@torch.compile(fullgraph=True)
def forward(hidden):
    return project(projection, hidden).sum()


def main():
    nn.init.ones_(projection.weight)
    nn.init.zeros_(projection.bias)
    hidden = torch.ones(2, 2, requires_grad=True)
    forward(hidden).backward()
    print(hidden.grad)
    print(projection.weight.grad)


if __name__ == "__main__":
    main()
```

To mark a method, decorate it in the class: `self` is then an argument, and its parameters are inputs. Under
`allow_in_graph`, which takes no modules, use `nonstrict_trace` instead.

## Fix safety

The module or parameter becomes an argument: of the function that uses it, of all on the way from the marked function to
it, and in every call in the project. Instead of a module that was marked itself a function is marked that takes the
module. Where the mode of the module decides, it is passed too, as the mode of an argument is not guarded; there is no
fix then for a module that was marked itself, or where the project switches parts of the module alone.

Methods that override one of these functions, or that it overrides, get the parameter too; where it is a `forward`, the
calls of the modules pass it.

Unsafe, as code that was not seen may call these functions too. There is no fix where some use of one of them is not a
plain call: handed on as a value, called with `*args`, an object of unknown class, a module in `nn.Sequential`.

## What is not reported

- Modules passed as arguments, and `self` of a decorated method.
- Methods of `self` that are marked inside a compiled region, which fails: see `defined-in-compiled-region` (NST601).
- Modules that hold no parameters, buffers or submodules and behave the same in training and evaluation, such as
  `nn.GELU`, or a class of the project whose `__init__` makes none.
- What is called nowhere but where nothing is traced: `if not torch.compiler.is_compiling(): ...`.
- The mode of module *arguments*: see `module-mode-capture` (NST105).

## References

- [torch.compiler.nonstrict_trace](https://docs.pytorch.org/docs/main/generated/torch.compiler.nonstrict_trace.html)
- [Use torch._dynamo.nonstrict_trace](https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.dynamo_nonstrict_trace.html)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program import module_state
from nonstrict.program.module_state import Holds
from nonstrict.program.places import Origin
from nonstrict.program.values import Flag, Kind
from nonstrict.rules.base import FROZEN, Experiment, Rule, report, report_at
from nonstrict.rules.captured_tensors import beside_a_leaf
from nonstrict.rules.captures import Sort, called, captured_reads, reads_metadata, subject, traced
from nonstrict.rules.nst601_defined_in_compiled_region import fails_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.effects import Observed
    from nonstrict.program.values import Value
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the reads of captured modules and parameters, and the marker of a marked module."""
    receiver = body.receiver
    bound = receiver is not None and receiver.kind is Kind.MODULE
    # A module that the region is given is captured by nothing: Dynamo refuses the marker, and that is all.
    traced_whole = bound and body.marker != "leaf" and not body.untraced
    if receiver is not None and traced_whole and (receiver.place.owner or not fails_inside(body)):
        yield from _marked_module(body, receiver)
    for read in captured_reads(body, Sort.MODULE):
        if not (bound and read.effect.place.origin is Origin.RECEIVER):
            yield from _captured(body, read)


def _marked_module(body: Body, module: Value) -> Iterator[Finding]:
    holds = module_state.holds(module)
    # torch.export makes inputs of the parameters of the module that it is given.
    if holds is not Holds.NOTHING and body.api not in {"export", "_export", "draft_export"}:
        message = f"`{body.api}` marks a module that is already bound, `{called(body)}`: {_fate(body, holds, 'module')}"
        advice = "mark a function that takes the module as an argument, or decorate the method in the class"
        severity, evidence = _severity(body, holds, body.writers(module.place))
        yield report_at(RULE, body, body.marked_at, message, help=advice, severity=severity, evidence=evidence)


def _captured(body: Body, read: Observed) -> Iterator[Finding]:
    place = read.effect.place
    holds = module_state.holds(read.effect.value)
    writers = body.writers(place)
    if holds is Holds.NOTHING:
        return
    if body.marker == "leaf":
        yield from _beside_a_leaf(body, read, holds)
        return
    noun = "parameter" if read.effect.value.kind is Kind.PARAMETER else "module"
    advice = f"pass `{place.text}` as an argument"
    if reads_metadata(read):
        message = (
            f"the metadata of {subject(place, noun)} is baked in {traced(body)}: once it is replaced by one of another "
            "shape or dtype, the compiled code still uses the first one's"
        )
        severity = Severity.WARNING if writers else Severity.NOTE
        yield report(RULE, body, read, message, help=advice, severity=severity, evidence=writers)
        return
    message = f"{subject(place, noun)} is used {traced(body)} without being an argument: {_fate(body, holds, noun)}"
    severity, evidence = _severity(body, holds, writers)
    if body.marker != "constant-result" or evidence:
        yield report(RULE, body, read, message, help=advice, severity=severity, evidence=evidence)


def _beside_a_leaf(body: Body, read: Observed, holds: Holds) -> Iterator[Finding]:
    if holds is Holds.MODE or reads_metadata(read) or read.effect.value.flags & Flag.FROZEN:
        return
    if body.applied.may_be_frozen(read.effect.place):
        return
    parameter = read.effect.value.kind is Kind.PARAMETER
    told = beside_a_leaf(read, *(("parameter", "it") if parameter else ("module", "its parameters")))
    yield report(RULE, body, read, told.message, help=told.help, severity=told.severity)


def _fate(body: Body, holds: Holds, noun: str) -> str:
    if body.marker == "constant-result":
        return "the result is frozen at the first compilation, whatever happens to the module afterwards"
    if holds is Holds.MODE:
        return "the mode of the first call is kept, also after `eval()` or `train()`"
    if body.marker == "make-fx":
        return "its data is baked into the graph as constants, which get no gradient and are never replaced"
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    fails = "torch.compile fails with inductor, its default backend; with aot_eager no gradient reaches"
    if noun == "parameter":
        return f"{fails} it, and a parameter that replaces it is not seen"
    return f"{fails} its parameters, and neither replaced parameters nor a change of mode is seen"


def _severity(body: Body, holds: Holds, writers: tuple[Related, ...]) -> tuple[Severity, tuple[Related, ...]]:
    """How bad a captured module is, and the evidence for it."""
    evidence = body.mode_writers() if holds is Holds.MODE else writers
    if body.marker == "make-fx":
        return (Severity.WARNING if evidence and not body.private else Severity.NOTE), evidence
    if holds is Holds.MODE or body.marker == "constant-result":
        return (Severity.ERROR if evidence else Severity.WARNING), evidence
    return Severity.ERROR, evidence


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default
    from nonstrict.fixes.captures.marked_modules import pass_module
    from nonstrict.fixes.captures.with_mode import pass_with_mode

    if context.body.marker == "leaf":
        return
    if context.finding.subject is None:
        yield from pass_module(context)
        return
    yield from list(pass_with_mode(context)) or pass_captured(context)
    yield from pass_default(context)
    yield from pass_bound(context)
    yield from pass_attribute(context)


RULE = Rule(
    code="NST103",
    name="module-capture",
    severity=Severity.ERROR,
    summary="A traced function uses a module or parameter that it captured instead of taking it as an argument.",
    documentation=__doc__ or "",
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    experiment=Experiment.CHANGE,
    gathered="use captured modules: its result is frozen at the first compilation",
)
