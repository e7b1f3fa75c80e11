"""The regions of one program, compiled by several arms at a time: who compiles which, and their traces as one.

Each arm runs the whole program, and leaves the regions of the others to eager code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from nonstrict.confirm.arms import Pending, Result

#: The regions that an arm compiles, by name and first line.
Share = tuple[tuple[str, int], ...]
#: With fewer regions to an arm, loading the program once more costs more than is gained.
_LEAST = 2


def shares_of(eager: Mapping[str, Any], slots: int) -> tuple[Share, ...]:
    """The shares for an eager trace where `slots` arms can run at a time; empty if one arm is to compile everything.

    That is so where the arms would not see what one sees: gradients flow through several regions, and what is traced
    ahead of time (`make_fx`, `export`) is traced by each of them.
    """
    if eager.get("ahead") or "of" in (eager.get("gradients") or {}):
        return ()
    regions = list(dict.fromkeys(_region(call) for call in eager["calls"]))
    count = min(slots, len(regions) // _LEAST)
    return tuple(tuple(regions[first::count]) for first in range(count)) if count > 1 else ()


class Joined(NamedTuple):
    """Arms that compile a share each, as if they were one."""

    arms: tuple[Pending, ...]
    shares: tuple[Share, ...]

    def result(self, timeout: float | None = None) -> Result:
        """Wait for all of them; the first that failed speaks for all."""
        results = [arm.result(timeout) for arm in self.arms]
        traces = [result.value for result in results if result.value is not None and not result.failure]
        if len(traces) < len(results):
            return next(result for result in results if result.value is None or result.failure)
        changes = dict.fromkeys(change for result in results for change in result.changes)
        return JoinedResult(joined(traces, self.shares), tuple(changes), sum(result.seconds for result in results))


class JoinedResult(NamedTuple):
    """What several arms returned, as one; see `nonstrict.confirm.arms.Result`."""

    value: dict[str, Any] | None
    changes: Sequence[Any]
    seconds: float
    failure: str = ""
    detail: str = ""


def joined(traces: Sequence[dict[str, Any]], shares: Sequence[Share]) -> dict[str, Any]:
    """One trace, in which each call is that of the arm that compiled its region.

    It ends where the first of them ends, as a program does that compiles everything, and where they go separate ways.
    """
    failed = next((trace for trace in traces if trace.get("failure")), None)
    if failed is not None:
        return failed
    shortest = min(traces, key=lambda trace: len(trace["calls"]))
    calls: list[dict[str, Any]] = []
    for place in zip(*(trace["calls"] for trace in traces), strict=False):
        owned = (call for call, share in zip(place, shares, strict=True) if _region(call) in share)
        if len({_region(call) for call in place}) > 1 or (call := next(owned, None)) is None:
            break
        calls.append(call)
    files = sorted({file for trace in traces for file in trace.get("files", ())})
    numbers = {name: leaf for trace in traces for name, leaf in trace.get("numbers", {}).items()}
    return {**shortest, "calls": calls, "files": files, "numbers": numbers}


def _region(call: Mapping[str, Any]) -> tuple[str, int]:
    return str(call["region"]), int(call.get("line", 0))
