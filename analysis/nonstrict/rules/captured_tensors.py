"""What torch does with a captured tensor under each marker: the verdict that NST101 and NST102 share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from nonstrict.findings import Related, Severity
from nonstrict.program.places import Origin
from nonstrict.program.values import Flag
from nonstrict.rules.captures import called, reads_metadata, subject, traced

if TYPE_CHECKING:
    from nonstrict.program.effects import Observed
    from nonstrict.program.places import Place
    from nonstrict.rules.base import Body


class Verdict(NamedTuple):
    """How bad the read of a captured tensor is, and what to say about it."""

    severity: Severity
    message: str
    help: str
    writers: tuple[Related, ...]


def captured_tensor(body: Body, read: Observed) -> Verdict | None:
    """Judge the read of a captured tensor; None where nothing is lost.

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
        message = (
            f"{subject(place, 'tensor')} decides the result of `{called(body)}`, which `{body.api}` freezes at the "
            "first compilation: later values are not seen"
        )
        return Verdict(Severity.ERROR, message, advice, writers)
    if reads_metadata(read):
        message = (
            f"the metadata of {subject(place, 'tensor')} is baked in {traced(body)}: once the tensor is replaced by "
            "one of another shape or dtype, the compiled code still uses the first one's"
        )
        replaced = any(writer.message != "changed in place here" for writer in writers)
        return Verdict(Severity.WARNING if replaced else Severity.NOTE, message, advice, writers)
    if body.marker == "make-fx":
        message = (
            f"{subject(place, 'tensor')} is baked into the graph as a constant {traced(body)}: gradients do not reach "
            "it, and a tensor that replaces it is not seen"
        )
        return Verdict(Severity.WARNING if writers and not body.private else Severity.NOTE, message, advice, writers)
    return Verdict(
        Severity.ERROR, f"{subject(place, 'tensor')} is read {traced(body)}: {_fate(body, place)}", advice, writers
    )


def beside_a_leaf(read: Observed, noun: str, told: str) -> Verdict:
    """What a leaf function captures gets no gradient (torch 2.13, `torch._higher_order_ops.invoke_leaf_function`)."""
    place = read.effect.place
    message = f"{subject(place, noun)} is used by a leaf function that does not take it: no gradient reaches {told}"
    return Verdict(Severity.NOTE, message, f"pass `{place.text}` as an argument, to the fake too", ())


def _fate(body: Body, place: Place) -> str:
    if body.marker == "in-graph":
        return "torch.compile fails with every backend"
    return (
        "torch.compile fails with inductor, its default backend; with aot_eager the tensor of the first call is kept, "
        f"also after `{place.text}` is rebound"
    )


def _alternative(place: Place) -> str:
    if place.seen_as is Origin.GLOBAL and not place.path:
        return ", or build it inside the function"
    if place.origin is Origin.DEFAULT:
        return " in every call"
    return ""
