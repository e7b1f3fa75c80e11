"""NST104 mutable-state-capture.

A traced function reads Python state that changes: the value of the first call is kept.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from nonstrict.events import Event, Read
from nonstrict.findings import Rebinding, Severity
from nonstrict.program.domain.access_paths import VIEW, Root
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.captures import Sort, called, captured_reads, is_inside, not_kept
from nonstrict.rules.expectation import Expectation, Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Effect, Observed
    from nonstrict.rules.base import Body

_NOUNS = {
    Kind.FUNCTION: "function",
    Kind.BOUND: "function",
    Kind.CLASS: "class",
    Kind.PYTHON_MODULE: "module",
    Kind.NUMPY: "NumPy array",
    Kind.LIST: "list",
    Kind.DICT: "dict",
    Kind.SET: "set",
}
_OWNERS = {
    Root.GLOBAL: "global {}",
    Root.CELL: "{} of the enclosing function",
    Root.DEFAULT: "default {}",
    Root.RECEIVER: "{} of the bound object",
}


def examine(body: Body) -> Iterator[Finding]:
    """Yield the reads of captured Python state that the project changes, and of ambient state."""
    changed = [
        (read, writers) for read in _once_a_line(captured_reads(body, Sort.STATE)) if (writers := _changers(body, read))
    ]
    wholes = {read.effect.place for read, _ in changed}
    for read, writers in changed:
        if not _is_gone_through(read.effect, wholes):
            message = f"`{called(body)}` captures {_subject(read.effect)}, which changes"
            advice = f"pass `{read.effect.place.text}` as an argument"
            evidence = (*writers, *not_kept(read))
            severity = _severity(body)
            yield report(RULE, body, read, message, note=_fate(body), help=advice, severity=severity, evidence=evidence)
    for read in body.observed(Event.AMBIENT):
        message = f"`{called(body)}` {read.effect.what}, which nothing guards"
        advice = "read it in the caller and pass the value as an argument"
        evidence = _writers(body, read.effect)
        severity = _of_ambient(body, read.effect, evidence)
        evidence = (*evidence, *not_kept(read))
        yield report(RULE, body, read, message, note=_fate(body), help=advice, severity=severity, evidence=evidence)


def _changers(body: Body, read: Observed) -> tuple[Related, ...]:
    """Who changes what is read, where the body keeps what it was; none where it is guarded, or decides only effects."""
    place = read.effect.place
    writers = body.replacements(place) if _shares_memory(read.effect) else body.writers(place)
    # There is nothing in None that could change.
    if read.effect.how is Read.IDENTITY or (read.effect.value.kind is Kind.NONE and not place.path):
        writers = tuple(writer for writer in writers if isinstance(writer, Rebinding))
    if body.marker == "constant-result":
        writers = _without_fills(body, writers)
    elif body.written_by_region(place):
        return ()
    kept = writers and not (body.guarded_by_region(place) or body.decides_only_effects(read))
    return writers if kept else ()


def _is_gone_through(effect: Effect, wholes: set[AccessPath]) -> bool:
    """Whether an element is meant of a container that is gone through, and told of where that is done."""
    place = effect.place
    while not isinstance(effect.node, ast.Subscript) and place.path[-1:] == ("[]",):
        place = place._replace(path=place.path[:-1])
        if place in wholes:
            return True
    return False


def _once_a_line(reads: Iterator[Observed]) -> Iterator[Observed]:
    """Of the reads of one place in one line the first: `counts / counts.sum()`."""
    seen: set[tuple[AccessPath, str, int]] = set()
    for read in reads:
        place = read.effect.place
        whole = place._replace(path=tuple(step for step in place.path if step != VIEW))
        spot = (whole, read.effect.span.path, read.effect.span.line)
        if spot not in seen:
            seen.add(spot)
            yield read


def _without_fills(body: Body, writers: tuple[Related, ...]) -> tuple[Related, ...]:
    """Without what the function fills for itself on demand: that happens once in plain Python too."""
    writes = (seen.effect for seen in body.observed(Event.WRITE) if writers)
    own = [effect.span for effect in writes if effect.lazy or effect.conditional]
    return tuple(writer for writer in writers if not any(is_inside(span, writer.span) for span in own))


def _shares_memory(effect: Effect) -> bool:
    """Whether the compiled code reads the array itself, and sees its changes: inductor inlines small ones only."""
    return effect.how is Read.MEMORY and not effect.value.flags & Flag.SMALL


def _severity(body: Body) -> Severity:
    """A note where the function was made for one trace: the value it had then is the one that is meant."""
    return Severity.NOTE if body.private else RULE.severity


def _of_ambient(body: Body, effect: Effect, writers: tuple[Related, ...]) -> Severity:
    """Worse where the program changes it; a note where it is a variable of the environment that nothing here sets.

    Whoever starts the program sets those, once; Python reads them from `os.environ`, a copy made at the start.
    """
    if writers:
        return _severity(body).raised()
    return Severity.NOTE if isinstance(effect.value.const, str) else _severity(body)


def _subject(effect: Effect) -> str:
    """The state as the subject of a message: "global `MODE`", "global function `activation`", "`CONFIG.scale`"."""
    name = f"`{effect.place.text}`"
    noun = _NOUNS.get(effect.value.kind)
    name = f"{noun} {name}" if noun else name
    owner = _OWNERS.get(effect.place.root)
    return owner.format(name) if owner and not effect.place.path else name


def _writers(body: Body, effect: Effect) -> tuple[Related, ...]:
    """Who changes ambient state: the object that holds it, or the environment variable that is read."""
    if effect.place.captured:
        return body.writers(effect.place)
    variable = effect.value.const
    return body.environment_writers(variable) if isinstance(variable, str) else ()


def _fate(body: Body) -> str:
    if body.marker == "constant-result":
        return "its result is frozen at the first compilation, and later values are not seen"
    if body.marker == "make-fx":
        return "the graph keeps the value it had while tracing"
    return "the compiled code silently keeps the value of its first call, with aot_eager and inductor"


def fixes(context: Context) -> Iterator[Fix]:
    """Pass what is captured as an argument."""
    from nonstrict.fixes.captures.arguments import pass_captured
    from nonstrict.fixes.captures.attributes import pass_attribute
    from nonstrict.fixes.captures.bound import pass_bound
    from nonstrict.fixes.captures.defaults import pass_default
    from nonstrict.fixes.captures.hoisting import hoist

    yield from pass_captured(context)
    yield from pass_default(context)
    yield from pass_bound(context)
    yield from pass_attribute(context)
    yield from hoist(context)


RULE = Rule(
    code="NST104",
    name="mutable-state-capture",
    severity=Severity.WARNING,
    summary="A traced function reads Python state that changes: the value of the first call is kept.",
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE, traits=Trait.STALE),
    gathered="read state which nothing guards",
    hint="frozen",
)
