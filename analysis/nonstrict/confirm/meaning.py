"""The divergences of an experiment that mean something: neither rounding nor what eager code makes otherwise too."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.groups import doubted
from nonstrict.confirm.numbers import difference
from nonstrict.confirm.programs import INDUCTOR
from nonstrict.confirm.traces import Arms, Divergence, divergences, narrowed
from nonstrict.rules.expectation import Channel

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Relative differences below this may come from another order of the same operations.
_ROUNDING = 1e-2


def found_in(arms: Arms) -> dict[str, list[Divergence]]:
    """The divergences by backend that mean something.

    Eager code that differs from itself is no measure, and rounding of Inductor alone is not semantics.
    """
    found = {backend: list(_meant(arms, trace)) for backend, trace in arms.compiled.items()}
    if "aot_eager" in found and INDUCTOR in found:
        precise = {one.kind for one in found["aot_eager"]}
        told = (_told_apart(one, precise, arms) for one in found[INDUCTOR])
        found[INDUCTOR] = [one for one in told if not (one.alone and one.relative < _ROUNDING)]
    return {
        backend: [doubted(one, arms.eager) for one in listed if not (one.drifted and one.relative < _ROUNDING)]
        for backend, listed in found.items()
    }


def _meant(arms: Arms, compiled: Mapping[str, Any]) -> Iterator[Divergence]:
    """The divergences of an arm in what eager code does alike each time."""
    varying: dict[tuple[Channel, int, str], set[str]] = {}
    for one in divergences(arms.eager, arms.control):
        varying.setdefault(one.kind, set()).update(one.paths)
    for one in divergences(arms.eager, compiled):
        if one.kind not in varying or _falls_silent(one, arms, compiled):
            yield one
        elif (rest := narrowed(one, varying[one.kind], arms.eager, compiled)) is not None:
            yield rest


def _falls_silent(divergence: Divergence, arms: Arms, compiled: Mapping[str, Any]) -> bool:
    """Whether eager code tells something each time, if not the same, and compiled code nothing."""
    if divergence.channel is not Channel.OUTPUT:
        return False
    told = [trace["calls"][divergence.call] for trace in (arms.eager, arms.control, compiled)]
    return any([bool(call.get(name)) for call in told] == [True, True, False] for name in ("out", "log"))


def _told_apart(divergence: Divergence, precise: set[tuple[Channel, int, str]], arms: Arms) -> Divergence:
    """A divergence of Inductor, marked if numbers differ where aot_eager, which computes as eager does, agrees."""
    numeric = not math.isinf(divergence.relative)
    own = numeric and divergence.kind not in precise
    stale = divergence.channel is Channel.VALUES and _is_stale(arms.eager, arms.compiled[INDUCTOR], divergence.call)
    return divergence._replace(alone=own and not stale)


def _is_stale(eager: Mapping[str, Any], compiled: Mapping[str, Any], index: int) -> bool:
    """Whether compiled code gives again what it gave before, from the same arguments, where eager code does not."""
    pairs = [calls[max(0, index - 1) : index + 1] for calls in (eager["calls"], compiled["calls"])]
    if any(len(pair) < 2 or any("result" not in call for call in pair) for pair in pairs):
        return False
    (before, now), (kept, given) = pairs
    alike = before.get("inputs") == now.get("inputs")
    moved = difference(before["result"], now["result"]) is not None
    return alike and moved and difference(kept["result"], given["result"]) is None
