"""Whether Inductor goes on with an earlier value of a number where it takes its graphs from a cache (NST805).

The control is Inductor without torch's caches: what differs from eager with them, and agrees without, is theirs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.numbers import difference
from nonstrict.confirm.programs import INDUCTOR
from nonstrict.rules.expectation import Experiment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from nonstrict.confirm.numbers import Difference
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms

#: The findings that are about it.
ASKED = frozenset({Experiment.STALE})


class Stale(NamedTuple):
    """The first call whose results are those of another value, and the largest difference of all calls."""

    call: int
    first: Difference
    largest: float
    at: int

    @property
    def text(self) -> str:
        """The same as a sentence."""
        told = f"call {self.call + 1}: eager {self.first.eager}, compiled {self.first.compiled}"
        most = f", and {self.largest:.3g} apart in call {self.at + 1}" if self.at != self.call else ""
        return f"{told}{most}; without torch's caches it computes what eager does"


def stale(suspect: Suspect, arms: Arms) -> Stale | None:
    """What is stale with the caches alone; None if nothing is, or nobody looked."""
    compiled, uncached = arms.compiled.get(INDUCTOR), arms.uncached
    if compiled is None or uncached is None:
        return None
    own = [n for n in range(len(arms.eager["calls"])) if suspect.number not in arms.foreign.get(n, ())]
    found = dict(_unlike(arms.eager, compiled, own))
    right = set(own) - {number for number, _ in _unlike(arms.eager, uncached, own)}
    if not found or not right.issuperset(found) or len(uncached["calls"]) < len(compiled["calls"]):
        return None
    call = min(found)
    at = max(found, key=lambda number: found[number].largest)
    return Stale(call, found[call], found[at].largest, at)


def _unlike(
    eager: Mapping[str, Any], compiled: Mapping[str, Any], numbers: list[int]
) -> Iterator[tuple[int, Difference]]:
    """The calls, among some, that give another result."""
    for number in numbers:
        pair = [trace["calls"][number] for trace in (eager, compiled) if number < len(trace["calls"])]
        if len(pair) == 2 and all("result" in call for call in pair):
            gap = difference(pair[0]["result"], pair[1]["result"])
            if gap is not None:
                yield number, gap
