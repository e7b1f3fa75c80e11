"""What a break of the graph costs the region that it is in, as rules tell it: an error, the region, or graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.coverage import graphs_told
from nonstrict.program.effects import Event
from nonstrict.program.unseen import Why

if TYPE_CHECKING:
    from nonstrict.program.effects import Observed
    from nonstrict.rules.base import Body

#: What was not looked into and is no call: it neither computes nor breaks a graph.
_NO_CALLS = frozenset({Why.VALUE, Why.WRITE})


def outcome(body: Body, seen: Observed) -> str:
    """What becomes of the region, to follow "breaks the graph of it"."""
    if refusal := body.refusal(seen):
        goes_on = ", and the callers go on without it" if body.falls_back else ""
        return f": with `{refusal}` compilation fails{goes_on}"
    if line := body.hidden_behind(seen):
        return f" once torch comes to it: after the break in line {line} this function runs as plain Python"
    if around := body.given_up(seen):
        where = "" if around == "itself" else f" in {around}"
        return f"{where}, after which torch does not resume: nothing of `{body.function}` is compiled"
    least, most, _ = body.graphs
    if any(one.effect.what not in _NO_CALLS for one in body.observed(Event.UNSEEN)):
        return f": what was looked into of it is compiled into {graphs_told(least, most)}" if most else ""
    return f": it is compiled into {graphs_told(least, most)}" if most else ": nothing of it is compiled"
