"""NST105 module-mode-capture.

The result depends on the training mode or a plain attribute of a module, which are not guarded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event
from nonstrict.findings import Severity
from nonstrict.program.domain.values import Flag, Kind
from nonstrict.rules.base import FROZEN, Rule, report
from nonstrict.rules.captures import Sort, called, sort_of
from nonstrict.rules.expectation import OF_CAPTURES, Expectation, Experiment, Trait
from nonstrict.rules.frozen import is_traced

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding, Fix, Related
    from nonstrict.fixes.context import Context
    from nonstrict.program.domain.effects import Observed
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
    cause = f" (through `{who}`)" if who not in {"", "training"} else ""
    message = f"`{module}.training` is read without a guard{cause}"
    note = f"the mode of the first call of `{called(body)}` is kept, also after `eval()` or `train()`"
    advice = f"pass `{module}.training` as an argument, or read it in the compiled region"
    severity = Severity.WARNING if writers else Severity.NOTE
    return report(RULE, body, read, message, note=note, help=advice, severity=severity, evidence=writers)


def _attribute(body: Body, read: Observed) -> Iterator[Finding]:
    place = read.effect.place
    own = {seen.effect.span for seen in body.observed(Event.WRITE, Event.LEAK)}
    writers = tuple(writer for writer in body.writers(place) if writer.span not in own)
    frozen = body.marker == "constant-result"
    if sort_of(read.effect.value) is Sort.TENSOR and not frozen:
        advice = "register it as a buffer: `register_buffer(name, tensor)`"
        message = f"`{place.text}` is a plain tensor attribute, not a buffer"
        note = _kept(body, "the tensor of the first call")
        yield report(RULE, body, read, message, note=note, help=advice, severity=_bad(body), evidence=writers)
    elif read.effect.value.kind is Kind.MODULE and not frozen:
        if body.holds_apart(read.effect):
            advice = "register it: `nn.ModuleList`, `nn.ModuleDict`, or a direct attribute"
            message = f"`{place.text}` is a module in a plain container, where torch does not see it"
            note = _kept(body, "its parameters, which get no gradient")
            yield report(RULE, body, read, message, note=note, help=advice, severity=_bad(body))
    elif writers and (frozen or not body.written_by_region(place)):
        held = "is held by" if len(place.path) > 1 and read.effect.value.flags & Flag.INSIDE else "is"
        message = f"`{place.text}` {held} a plain attribute of a module argument: nothing guards it"
        note = f"its value at the first call of `{called(body)}` is kept, also after it is changed"
        advice = "pass it as a separate argument"
        yield report(RULE, body, read, message, note=note, help=advice, evidence=writers)


def _kept(body: Body, what: str) -> str:
    """What becomes of state that torch does not know of."""
    if body.marker == "make-fx":
        return f"`{body.api}` bakes {what} into the graph of `{called(body)}`"
    return f"inductor, the default backend, refuses to compile it; aot_eager keeps {what}"


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
    markers=FROZEN,
    examine=examine,
    fixes=fixes,
    expectation=Expectation(Experiment.CHANGE, refusals=OF_CAPTURES, traits=Trait.STALE | Trait.OF_MODES),
    gathered="read attributes of modules which nothing guards",
    hint="mode frozen",
)
