"""NST808 cudagraph-skip: A region runs without the CUDA graphs it asks for, or has many recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.findings import Severity
from nonstrict.program.interpret.rounds import MANY
from nonstrict.rules.base import COMPILED, Rule, report
from nonstrict.rules.expectation import Expectation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.findings import Finding
    from nonstrict.rules.base import Body

_STATIC = "make it a buffer of the module, or call `torch._dynamo.mark_static_address` on it"
_SIZES = "pad to a few sizes"


def examine(body: Body) -> Iterator[Finding]:
    """Yield what has torch run a region without CUDA graphs, and what they are recorded for one after the other."""
    for seen in body.cuda_graphs.changed:
        name = f"`{seen.effect.place.text}`"
        message = f"{name} is changed in place: `{body.function}` runs without CUDA graphs"
        note = "torch skips CUDA graphs for inputs that change, unless their address is static"
        yield report(RULE, body, seen, message, note=note, help=_STATIC)
    for one in body.cuda_graphs.recorded:
        number = "" if one.values >= MANY else f" {one.values}"
        message = f"`{one.seen.effect.place.text}` varies from call to call: a CUDA graph is recorded for each value"
        note = f"recording takes time and memory for each of the{number} values"
        yield report(RULE, body, one.seen, message, note=note, help=_SIZES, evidence=one.evidence)


RULE = Rule(
    code="NST808",
    name="cudagraph-skip",
    severity=Severity.NOTE,
    summary="A region runs without the CUDA graphs it asks for, or has many recorded.",
    markers=COMPILED,
    examine=examine,
    expectation=Expectation(),
)
