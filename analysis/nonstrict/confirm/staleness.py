"""Whether Inductor goes on with an earlier value of a number where it takes its graphs from a cache (NST805).

The control is Inductor without torch's caches: what differs from eager with them, and agrees without, is theirs. The
first call that differs is the evidence, in what it returns or in what it writes into its arguments or the state of the
program: the calls after it may be given what it left there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm import evidence
from nonstrict.confirm.programs import INDUCTOR
from nonstrict.confirm.recompiling import own_calls
from nonstrict.confirm.traces import divergences, given_otherwise
from nonstrict.rules.expectation import Channel, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms, Divergence

#: The findings that are about it.
ASKED = frozenset({Experiment.STALE})
#: Where the numbers that a call computes show, those that people look at first in front.
_SHOWN = (Channel.VALUES, Channel.ARGUMENTS, Channel.STATE)


class Stale(NamedTuple):
    """The first difference of the first call that computes with another value, and the largest of all calls."""

    first: Divergence
    most: Divergence

    @property
    def text(self) -> str:
        """The same as a sentence."""
        told = evidence.short(self.first)
        most = f", and {self.most.apart:.3g} apart in call {self.most.call + 1}" if self.most is not self.first else ""
        return f"{told}{most}; without torch's caches it computes what eager does"


def stale(suspect: Suspect, arms: Arms) -> Stale | None:
    """What is stale with the caches alone; None if nothing is, or nobody looked."""
    compiled, uncached = arms.compiled.get(INDUCTOR), arms.uncached
    if compiled is None or uncached is None or len(uncached["calls"]) < len(compiled["calls"]):
        return None
    found = {one.call: one for one in _in_numbers(suspect, compiled, arms)}
    wrong = {one.call for one in _in_numbers(suspect, uncached, arms)}
    end = given_otherwise(arms.eager, uncached)
    if not found or not wrong.isdisjoint(found) or (end is not None and end <= max(found)):
        return None
    first = found[min(found)]
    return Stale(first, max(found.values(), key=lambda one: (one.apart, one is first)))


def _in_numbers(suspect: Suspect, compiled: Mapping[str, Any], arms: Arms) -> Iterator[Divergence]:
    """The numbers that an arm computes otherwise in the calls of a finding's region; those of results come last."""
    own = {number for number, _ in own_calls(suspect, arms.eager, arms)}
    found = [one for one in divergences(arms.eager, compiled) if one.channel in _SHOWN and one.call in own]
    for one in sorted(found, key=lambda one: -_SHOWN.index(one.channel)):
        if one.channel is Channel.VALUES or not math.isinf(one.apart):
            yield one
