"""NST103 module-capture.

A traced function uses a module or parameter that it captured instead of taking it as an argument.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.program.externals import module_state
from nonstrict.program.externals.module_state import Holds
from nonstrict.rules.base import FROZEN, Rule, report, report_at
from nonstrict.rules.captured_tensors import BAKED_IN, bakes_in, beside_a_leaf, captures
from nonstrict.rules.captures import Sort, called, captured_reads, reads_metadata
from nonstrict.rules.expectation import OF_CAPTURES, Expectation, Experiment
from nonstrict.rules.refused_targets import fails_inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Observed
    from nonstrict.program.domain.values import Value
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
        if not (bound and read.effect.place.root is Root.RECEIVER):
            yield from _captured(body, read)


def _marked_module(body: Body, module: Value) -> Iterator[Finding]:
    holds = module_state.holds(module)
    # torch.export makes inputs of the parameters of the module that it is given.
    if holds is not Holds.NOTHING and body.api not in {"export", "_export", "draft_export"}:
        is_module = body.applied.target.kind is Kind.MODULE
        what = f"a module (`{called(body)}`)" if is_module else f"`{called(body)}`, a method bound to its module"
        message = f"`{body.api}` marks {what}"
        advice = "mark a function that takes the module as an argument, or decorate the method in the class"
        severity, evidence = _severity(body, holds, body.writers(module.place))
        note = _fate(body, holds, "module")
        yield report_at(
            RULE, body, body.marked_at, message, note=note, help=advice, severity=severity, evidence=evidence
        )


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
        severity, message = Severity.WARNING if writers else Severity.NOTE, bakes_in(body, place, noun)
        yield report(RULE, body, read, message, note=BAKED_IN, help=advice, severity=severity, evidence=writers)
        return
    message, note = captures(body, place, noun), _fate(body, holds, noun)
    severity, evidence = _severity(body, holds, writers)
    if body.marker != "constant-result" or evidence:
        yield report(RULE, body, read, message, note=note, help=advice, severity=severity, evidence=evidence)


def _beside_a_leaf(body: Body, read: Observed, holds: Holds) -> Iterator[Finding]:
    if holds is Holds.MODE or reads_metadata(read) or read.effect.value.flags & Flag.FROZEN:
        return
    if body.applied.may_be_frozen(read.effect.place):
        return
    parameter = read.effect.value.kind is Kind.PARAMETER
    told = beside_a_leaf(read, *(("parameter", "it") if parameter else ("module", "its parameters")))
    yield report(RULE, body, read, told.message, note=told.note, help=told.help, severity=told.severity)


def _fate(body: Body, holds: Holds, noun: str) -> str:
    if body.marker == "constant-result":
        return "the result is frozen at the first compilation, whatever happens to the module afterwards"
    if holds is Holds.MODE:
        return "the mode of the first call is kept, also after `eval()` or `train()`"
    if body.marker == "make-fx":
        return "its data is baked into the graph as constants, which get no gradient and are never replaced"
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    fails = "inductor, the default backend, refuses to compile it; with aot_eager no gradient reaches"
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
    if context.finding.cause is None:
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
    markers=FROZEN | {"leaf"},
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE, refusals=OF_CAPTURES),
    gathered="use captured modules",
    hint="frozen",
)
