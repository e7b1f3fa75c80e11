"""NST701 graph-break: A compiled region contains code that Dynamo cannot trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Applicability, Severity
from nonstrict.program.contracts.marks.purity import supposed
from nonstrict.program.contracts.regions.breaks import DISABLED, DISABLED_ALONE, DISABLED_MODULE, NEVER_FOUND
from nonstrict.program.domain.access_paths import FRESH
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.break_reasons import reason_of
from nonstrict.rules.constructs import construct
from nonstrict.rules.costs import outcome
from nonstrict.rules.expectation import Expectation, Experiment
from nonstrict.rules.purity import certificate
from nonstrict.rules.ways_out import is_effect, is_message, way_out

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix
    from nonstrict.fixes.context import Context
    from nonstrict.knowledge.graph_breaks import GraphBreak
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed
    from nonstrict.rules.base import Body

#: What no edit is known for: no value that a caller could pass, one that stays what it is if passed, no break at all.
_UNMENDED = frozenset({"stmt:environ-write", "stmt:numpy-branch", "stmt:if-tensor-literal", NEVER_FOUND})
_GRAPH_BREAK = "call:torch._dynamo.graph_break"
#: What is written to break the graph, where it may.
_WANTED = frozenset(
    {
        *(_GRAPH_BREAK, DISABLED, DISABLED_ALONE, DISABLED_MODULE),
        *("call:torch.compiler.disable", "call:torch._dynamo.disable"),
        *("call:torch._dynamo.skip_frame", "call:torch._dynamo.step_unsupported"),
    }
)


def examine(body: Body) -> Iterator[Finding]:
    """Yield the constructs that break the graph; one for each expression, and for each object that is not let in."""
    refused: set[tuple[str, AccessPath]] = set()
    for seen in body.observed(Event.BREAK):
        key, place = seen.effect.what, seen.effect.place
        if (key, place) in refused:
            continue
        if place is not FRESH:
            refused.add((key, place))
        if key == NEVER_FOUND:
            yield _frozen(body, seen)
        known = body.graph_break(seen)
        if known is None:
            continue
        message = f"{construct(seen)} breaks the graph{f' ({known.id})' if known.id else ''}"
        note = "; ".join(filter(None, (known.type, outcome(body, seen))))
        severity = _severity(body, seen)
        advice = _advice(key, known) + (_marking(body, seen) if severity > Severity.NOTE else "")
        may_break = not body.refusal(seen)
        hidden = may_break and body.hidden_behind(seen) > 0
        gives_up = may_break and not hidden and body.given_up(seen) != ""
        finding = report(RULE, body, seen, message, note=note, help=advice, severity=severity)
        yield finding._replace(gives_up=gives_up, hidden=hidden)


def _frozen(body: Body, seen: Observed) -> Finding:
    """What is traced without an error, and is decided there and then."""
    message = f"{construct(seen)} is decided at trace time"
    note = f"`{body.function}` never finds the value, whatever the tensor holds, and nothing is raised"
    advice = "test the tensor, as in `(lengths == 3).any()`, with `torch.where` to choose, or decide outside the region"
    return report(RULE, body, seen, message, note=note, help=advice, severity=Severity.WARNING)


def _severity(body: Body, seen: Observed) -> Severity:
    conditional = seen.effect.conditional or any(edge.conditional for edge in seen.chain)
    if not body.refusal(seen):
        wanted = seen.effect.what in _WANTED and not body.given_up(seen)
        once = conditional or wanted or body.hidden_behind(seen)
        return Severity.NOTE if once else Severity.WARNING
    if not conditional:
        return Severity.WARNING if body.falls_back else Severity.ERROR
    return Severity.NOTE if seen.chain or seen.effect.telling else Severity.WARNING


def _advice(key: str, known: GraphBreak) -> str:
    advice = way_out(key) or reason_of(known.id or known.type).way
    return f"{advice}; see {known.url}" if known.url else advice


def _marking(body: Body, seen: Observed) -> str:
    """Whether the helper with the construct may be marked instead, or what is in the way."""
    from nonstrict.rules.registry import RULES

    helper = body.supposed(seen)
    if helper is None:
        return ""
    told = certificate(helper, RULES.values())
    if told.verdict == "pure":
        return f". `{told.function}` is pure: marking it with `nonstrict_trace` also works"
    if not told.obstacles:
        return ""
    first = told.obstacles[0]
    more = f" and {len(told.obstacles) - 1} more" if len(told.obstacles) > 1 else ""
    return f". Marking `{told.function}` does not help: it has {first.code} ({RULES[first.code].name}){more}"


def fixes(context: Context) -> Iterator[Fix]:
    """Write it another way, move it to the caller or leave it out; mark the helper around it, if that is pure."""
    from nonstrict.fixes.captures import hoisting
    from nonstrict.fixes.effects import moving
    from nonstrict.fixes.effects import removing as effects
    from nonstrict.fixes.tensors import branches, constants, marking, rewrites, scalars

    seen = context.observed(Event.BREAK)
    if seen is None:
        return
    key = seen.effect.what
    if key in _UNMENDED:
        return
    if key == _GRAPH_BREAK:
        # Without `fullgraph=True` somebody may want the graph to break there.
        yield from effects.remove(context, Applicability.SAFE if context.body.fullgraph else Applicability.UNSAFE)
        return
    yield from branches.choose(context)
    if key == "arg:copy.deepcopy:tensor":
        yield from rewrites.clone(context)
    yield from rewrites.sort_in_tensor(context)
    yield from scalars.sum_in_tensor(context)
    helper = context.body.supposed(seen)
    if key in (DISABLED, DISABLED_ALONE) and (called := marking.disabled(context)) is not None:
        helper = supposed(context.machine, called, context.body.torch)
    # The certificate looks at all the helper does: too much for what may break.
    if helper is not None and context.finding.severity > Severity.NOTE and _is_markable(helper):
        yield from marking.mark(context, helper)
    yield from constants.compute_once(context)
    yield from hoisting.hoist_break(context)
    if is_effect(key):
        yield from moving.move_call(context)
        if context.finding.severity > Severity.NOTE:
            # Where the graph may break, a message is worth more than a whole graph. Without a seed or a file plain
            # Python computes something else.
            yield from effects.remove(context, Applicability.UNSAFE if is_message(key) else Applicability.DISPLAY)


def _is_markable(helper: Body) -> bool:
    """Whether nothing at all would be said of a function if it were marked."""
    from nonstrict.rules.registry import RULES

    told = certificate(helper, RULES.values())
    return told.verdict == "pure" and not told.notes


RULE = Rule(
    code="NST701",
    name="graph-break",
    severity=Severity.ERROR,
    summary="A compiled region contains code that Dynamo cannot trace.",
    markers=COMPILED,
    examine=examine,
    fixes=fixes,
    surest=Applicability.SAFE,
    expectation=Expectation(Experiment.BREAK),
)
