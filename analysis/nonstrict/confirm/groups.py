"""Programs that need a default process group: when they are given one, and what it keeps from being told.

What a group without other ranks gives is not what its program computes with, but may be whatever the memory held. So no
difference in numbers is a verdict where one was made; what torch refuses, breaks and leaves out is.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.drivers import GIVEN
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from nonstrict.confirm.programs import Schedule
    from nonstrict.confirm.traces import Divergence

#: How many ranks a group has that is made for a program (`nonstrict_agent.process_groups`).
RANKS = 2
#: The reason of a verdict that would be one about numbers.
MADE_UP = "group"
_KINDS = frozenset({"process-group", "device-mesh"})
_COMPUTED = frozenset({Channel.VALUES, Channel.GRADIENTS})
_HELD = frozenset({Channel.ARGUMENTS, Channel.STATE})


class Groups:
    """Which schedules of a program have a default process group: none if any run makes one itself, or tries to."""

    def __init__(self, eager: Callable[[Schedule], Mapping[str, Any]]) -> None:
        """`eager` gives the eager trace of a schedule."""
        self._eager = eager
        self._own = False

    def given(self, schedule: Schedule) -> Schedule:
        """The schedule, with a group if torch asks for one in eager code."""
        if schedule.group or not self._asks(schedule):
            return schedule
        with_group = schedule._replace(group=True)
        asks_still = self._asks(with_group)
        return schedule if asks_still or self._own or not ranks_in(self._eager(with_group)) else with_group

    def _asks(self, schedule: Schedule) -> bool:
        trace = self._eager(schedule)
        self._own = self._own or bool(trace.get("group", {}).get("own"))
        stop: Mapping[str, Any] = trace.get("stop") or {}
        errors = [stop.get("error"), trace.get("load_error"), *(call.get("error") for call in trace.get("calls", ()))]
        return any(error and error.get("asks_for_group") for error in errors)


def ranks_in(trace: Mapping[str, Any]) -> int:
    """How many ranks the process group of a run has that was made for it; 0 if none was."""
    return int(trace.get("group", {}).get("ranks", 0))


def needs_group(schedule: Schedule) -> bool:
    """Whether a process group is made for a schedule."""
    if schedule.group or schedule.driver.kind not in GIVEN:
        return schedule.group
    kinds: set[str] = set()

    def note(part: dict[str, Any]) -> None:
        kinds.add(str(part.get("kind")))

    json.loads(schedule.driver.given or "[]", object_hook=note)
    return not _KINDS.isdisjoint(kinds)


def is_made_up(divergence: Divergence, trace: Mapping[str, Any]) -> bool:
    """Whether a divergence is one in numbers, and a group was made for the run."""
    channel = divergence.channel
    numbers = channel in _COMPUTED or (channel in _HELD and not math.isinf(divergence.apart))
    return numbers and ranks_in(trace) > 0


def doubted(divergence: Divergence, trace: Mapping[str, Any]) -> Divergence:
    """A divergence, as one that may mean nothing if it is made up."""
    return divergence._replace(vague=True) if is_made_up(divergence, trace) else divergence
