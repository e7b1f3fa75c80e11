"""What torch does with a captured tensor under each marker: the verdict that NST101 and NST102 share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Related, Severity
from nonstrict.program.domain.access_paths import Root
from nonstrict.program.domain.values import Flag
from nonstrict.rules.base import report
from nonstrict.rules.captures import Sort, called, captured_reads, reads_metadata, subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.program.domain.access_paths import AccessPath
    from nonstrict.program.domain.effects import Observed
    from nonstrict.rules.base import Body, Rule


#: What comes of metadata that is baked in.
BAKED_IN = "if it is rebound to a tensor of another shape or dtype, compiled code still uses the first one's"


class Verdict(NamedTuple):
    """How bad the read of a captured tensor is, and what to say about it."""

    severity: Severity
    message: str
    note: str
    help: str
    writers: tuple[Related, ...]


def captured_tensors(rule: Rule, body: Body, *, of_globals: bool) -> Iterator[Finding]:
    """The findings on reads of captured tensors: those that module globals lead to, or all others."""
    for read in captured_reads(body, Sort.TENSOR):
        verdict = _judged(body, read) if (read.effect.place.seen_as is Root.GLOBAL) is of_globals else None
        if verdict is not None:
            severity, message, note, advice, writers = verdict
            yield report(rule, body, read, message, note=note, help=advice, severity=severity, evidence=writers)


def _judged(body: Body, read: Observed) -> Verdict | None:
    """What to say of the read of a captured tensor; None where nothing is lost.

    That is: the result is frozen and nothing changes the tensor, or a leaf function reads one without gradients.
    Measured on torch 2.13.0 (CPU): data of a captured tensor is an error with inductor and, under
    `allow_in_graph`, with every backend; metadata is baked in; `make_fx` keeps a constant.
    """
    if body.marker == "leaf":
        needs = read.effect.value.flags & Flag.GRADIENT and not reads_metadata(read)
        return beside_a_leaf(read, "tensor", "it") if needs else None
    place = read.effect.place
    writers = body.writers(place)
    advice = f"pass `{place.text}` as an argument{_alternative(place)}"
    if body.marker == "constant-result":
        if not writers:
            return None
        message = f"{subject(place, 'tensor')} decides the frozen result of `{called(body)}`"
        note = f"`{body.api}` freezes it at the first compilation: later values are not seen"
        return Verdict(Severity.ERROR, message, note, advice, writers)
    if reads_metadata(read):
        severity = Severity.WARNING if body.replacements(place) else Severity.NOTE
        return Verdict(severity, bakes_in(body, place, "tensor"), BAKED_IN, advice, writers)
    message = captures(body, place, "tensor")
    if body.marker == "make-fx":
        note = "it becomes a constant of the graph: no gradient reaches it, and rebinding it has no effect"
        severity = Severity.WARNING if writers and not body.private else Severity.NOTE
        return Verdict(severity, message, note, advice, writers)
    return Verdict(Severity.ERROR, message, _fate(body, place), advice, writers)


def captures(body: Body, place: AccessPath, noun: str) -> str:
    """That a body uses what it captures, as a message."""
    return f"`{called(body)}` captures {subject(place, noun)}"


def bakes_in(body: Body, place: AccessPath, noun: str) -> str:
    """That a body uses no more of what it captures than its metadata, as a message."""
    return f"`{called(body)}` bakes in the metadata of {subject(place, noun)}"


def beside_a_leaf(read: Observed, noun: str, told: str) -> Verdict:
    """What a leaf function captures gets no gradient (torch 2.13, `torch._higher_order_ops.invoke_leaf_function`)."""
    place = read.effect.place
    message = f"a leaf function captures {subject(place, noun)}"
    advice = f"pass `{place.text}` as an argument, to the fake too"
    return Verdict(Severity.NOTE, message, f"no gradient reaches {told}: it is not an argument", advice, ())


def _fate(body: Body, place: AccessPath) -> str:
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    return (
        "inductor, the default backend, refuses to compile it; aot_eager keeps the tensor of the first call, "
        f"also after `{place.text}` is rebound"
    )


def _alternative(place: AccessPath) -> str:
    if place.seen_as is Root.GLOBAL and not place.path:
        return ", or build it inside the function"
    if place.root is Root.DEFAULT:
        return " in every call"
    return ""
