"""What a break of the graph costs the region that it is in, as rules tell it: an error, the region, or graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.coverage import graphs_told
from nonstrict.events import Event, Unseen

if TYPE_CHECKING:
    from nonstrict.program.domain.effects import Observed
    from nonstrict.rules.base import Body

#: What was not looked into and is not a call: it neither computes nor breaks a graph.
_NO_CALLS = frozenset({Unseen.VALUE, Unseen.WRITE})


def outcome(body: Body, seen: Observed) -> str:
    """What becomes of the region, as the note of a finding; "" if that is not known."""
    region = f"`{body.function}`"
    if refusal := body.refusal(seen):
        goes_on = ", and its callers run it in eager mode" if body.falls_back else ""
        return f"with `{refusal}` compilation of {region} fails{goes_on}"
    if line := body.hidden_behind(seen):
        return f"this function runs in eager mode after the break on line {line}, so torch does not reach it there"
    if around := body.given_up(seen):
        after = "it" if around == "itself" else f"a break in {around}"
        return f"torch does not resume after {after}: nothing of {region} is compiled"
    least, most, _ = body.graphs
    if any(one.effect.how not in _NO_CALLS for one in body.observed(Event.UNSEEN)):
        return f"the analyzed part of {region} is compiled into {graphs_told(least, most)}" if most else ""
    return f"{region} is compiled into {graphs_told(least, most)}" if most else f"nothing of {region} is compiled"
