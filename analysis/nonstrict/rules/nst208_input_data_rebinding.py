"""NST208 input-data-rebinding.

A traced function rebinds the data, shape, gradient or attributes of an argument tensor, which is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Change, Event
from nonstrict.findings import Severity
from nonstrict.program.domain.access_paths import Root
from nonstrict.rules.base import Rule, report
from nonstrict.rules.effect_texts import code
from nonstrict.rules.expectation import Expectation, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body


def examine(body: Body) -> Iterator[Finding]:
    """Yield the changes of an argument tensor's metadata, identity or gradient, and data that is lost in any tensor."""
    for seen in body.observed(Event.REBIND_DATA):
        effect = seen.effect
        if effect.place.captured:
            continue
        if effect.how is Change.GRADIENT:
            message = f"{code(effect.what)} writes the gradient of an argument"
            note = f"torch.compile fails while `{body.api}` traces `{body.function}`"
            advice = "use `torch.autograd.grad` in the function, or call `backward()` in the caller"
        elif effect.place.root is not Root.ARGUMENT or effect.place.is_view:
            message = f"{code(effect.what)} is not recorded in the graph"
            note = "compiled code silently computes with the tensor's original data"
            advice = "change the elements in place (`x.copy_(...)`), or bind the name to the new tensor"
        else:
            message = f"{code(effect.what)} changes an argument tensor itself, not its elements"
            note = "the caller's tensor does not change, or torch.compile fails"
            advice = "change the elements in place (`x.copy_(...)`), or return the new tensor"
        yield report(RULE, body, seen, message, note=note, help=advice)


RULE = Rule(
    code="NST208",
    name="input-data-rebinding",
    severity=Severity.WARNING,
    summary="A traced function rebinds the data, shape, gradient or attributes of an argument tensor, which is lost.",
    examine=examine,
    expectation=Expectation(Experiment.EFFECT),
)
