"""States of torch that the calls of a region meet in a rehearsal: with gradients and without, under autocast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.events import Event, Use
from nonstrict.program.contracts.regions import rehearsed, torch_states
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Effect, Observed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nonstrict.program.contracts.interpreted import Interpreted

#: By setting of a rehearsal, what the table of guards calls the state.
_STATES = {"grad": torch_states.GRADIENTS, "autocast": torch_states.AUTOCAST}
_SEVERAL = 2


def observed(region: Interpreted) -> Iterator[tuple[str, Observed, int]]:
    """The states that differ: what the table calls each, the first call that meets the last one, and how many."""
    given = rehearsed.calls(region)
    for setting, state in _STATES.items():
        keys = [str(one.settings.get(setting)) for one in given]
        if len({*keys}) >= _SEVERAL:
            last = given[max(keys.index(key) for key in {*keys})]
            place = AccessPath(Root.UNKNOWN, "", state.asked)
            effect = Effect(Event.GUARD, last.path, 0, last.node, place, how=Use.BRANCH)
            yield state.source, Observed(effect, (), in_hook=False), len({*keys})
