"""NST808 cudagraph-skip: A region runs without the CUDA graphs it asks for, or has many recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Applicability, Severity
from nonstrict.program.contracts.regions.capturing import CHANGED, Part
from nonstrict.program.interpret.rounds import MANY
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.program.contracts.regions.capturing import LeftOut
    from nonstrict.rules.base import Body

_HELD = "register it as a buffer, which moves with the module"
_STATIC = "make it a buffer of the module, or call `torch._dynamo.mark_static_address` on it"
_MASKED = "keep the size: `torch.where`, or multiply by the mask"
_SIZES = "pad to a few sizes"
#: What torch does with a part of a region, and what to do; `{name}` is the code.
_TOLD = {
    Part.DRAWN: ("`{name}` draws on the CPU", "draw on the device of the other tensors: `device=`"),
    Part.INDEX: ("this index of `{name}` is made on the CPU", "make it on the device of the tensor: `device=`"),
    Part.STORED_INDEX: ("this index of `{name}` is made on the CPU", "make it on the device of the tensor: `device=`"),
    Part.COPIED_BACK: ("what is computed with `{name}` runs on the CPU", "compute it on the GPU, or after the region"),
    Part.SCALAR: ("`{name}` is a tensor on the CPU", _HELD),
    Part.GLOBAL_SCALAR: ("`{name}` is a tensor on the CPU", "use a number, or make it on the GPU"),
    Part.ARGUMENT_SCALAR: ("`{name}` is passed from the CPU", "pass a tensor on the GPU, or the same number always"),
    Part.MADE: ("`{name}` makes a tensor on the CPU", "make it on the device of the other tensors: `device=`"),
    Part.MOVED: ("`{name}` is copied from the CPU in every call", _HELD),
    Part.ARGUMENT_MOVED: ("`{name}` is passed from the CPU and copied", "pass a tensor on the GPU"),
    Part.CONDITION: ("`{name}` decides on the CPU", "use `torch.where` where both sides may be computed"),
    Part.SELECTED: ("data decides how large `{name}` is", _MASKED),
    Part.COUNTED: ("data decides how large `{name}` is", _MASKED),
    Part.OTHER_GPU: ("`{name}` is a second GPU", "compile what runs on each GPU by itself"),
    Part.DYNAMIC: ("`{name}` varies, and `cudagraph_skip_dynamic_graphs` is set", _SIZES),
    Part.CPP_WRAPPER: ("`{name}` is set", "leave it off: it has no CUDA graphs that are split"),
    Part.DATA: ("`{name}.data =` gives a tensor other memory", "change it in place: `copy_`"),
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield what has torch run a region without CUDA graphs, and what they are recorded for one after the other."""
    for seen in body.cuda_graphs.changed:
        name = f"`{seen.effect.text}`"
        message = f"{name} is changed in place: `{body.function}` runs without CUDA graphs"
        note = "torch skips CUDA graphs for inputs that change, unless their address is static"
        yield report(RULE, body, seen, message, note=note, help=_STATIC)._replace(about=CHANGED)
    for one in body.cuda_graphs.left_out:
        yield _left_out(body, one)
    for one in body.cuda_graphs.recorded:
        number = "" if one.values >= MANY else f" {one.values}"
        message = f"`{one.seen.effect.text}` varies from call to call: a CUDA graph is recorded for each value"
        note = f"recording takes time and memory for each of the{number} values"
        yield report(RULE, body, one.seen, message, note=note, help=_SIZES, evidence=one.evidence)


def _left_out(body: Body, one: LeftOut) -> Finding:
    told, advice = _TOLD[one.part]
    told = told.format(name=one.seen.effect.text)
    if one.skipped:
        message, note = f"{told}: `{body.function}` runs without CUDA graphs", "torch skips CUDA graphs for it"
    else:
        message = f"{told}, outside of the CUDA graph of `{body.function}`"
        note = "torch splits the graph there: what is left out is launched one by one"
    finding = report(RULE, body, one.seen, message, note=note, help=advice, evidence=one.evidence)
    return finding._replace(about=one.part.name)


def fixes(context: Context) -> Iterator[Fix]:
    """Make a tensor on the GPU, register it as a buffer, or mark what is changed in place."""
    from nonstrict.fixes.captures.registered import as_buffer
    from nonstrict.fixes.marks import static_addresses
    from nonstrict.fixes.tensors.on_device import made_there

    yield from made_there(context)
    yield from as_buffer(context)
    yield from static_addresses.marked(context)


RULE = Rule(
    code="NST808",
    name="cudagraph-skip",
    severity=Severity.NOTE,
    summary="A region runs without the CUDA graphs it asks for, or has many recorded.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.UNGRAPHED, traits=Trait.BETWEEN_CALLS),
)
