"""Breaks of the graph, held against the findings that foretell them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.measuring import breaks_of, fall_backs_of
from nonstrict.rules.expectation import Channel, Experiment

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms, Divergence
    from nonstrict.findings import Break, FallBack


def broken(suspect: Suspect, suspects: Sequence[Suspect], compiled: Mapping[str, Any], arms: Arms) -> str:
    """What torch says of the break that a finding foretells, and how it went on; "" if it did not break there."""
    calls = list(_calls(suspect, compiled, arms))
    found = list(_on_line(suspect, calls))
    # Several constructs of one line may break.
    free = [one for one in found if not any(_is_at(one, other) for other in suspects)]
    seen = next((one for one in found if _is_at(one, suspect)), None) or next(iter(free), None)
    if seen is None:
        return ""
    left = [one for call in calls for one in fall_backs_of(call)]
    return f"{seen.text}{_afterwards(seen, left, suspect)}"


def _on_line(suspect: Suspect, calls: Iterable[Mapping[str, Any]]) -> Iterator[Break]:
    """The breaks on the lines of a finding."""
    yield from (one for call in calls for one in breaks_of(call) if one.lines[-1][:2] in suspect.places)


def _is_at(seen: Break, suspect: Suspect) -> bool:
    place = seen.lines[-1]
    return place[:3] == (suspect.path, min(suspect.lines), suspect.column)


def _afterwards(seen: Break, left: list[FallBack], suspect: Suspect) -> str:
    """Whether torch went on after a break, where that is not what the finding says or is worth a word."""
    lines = {place[:2] for place in seen.lines}
    after = next((one for one in left if (one.path, one.at) in lines), None)
    if after is not None and after.rest:
        return f", after which the rest of `{after.function}` runs in eager mode"
    if after is not None:
        return f", after which all of `{after.function}` runs in eager mode"
    return ", after which torch continues, contrary to the finding" if suspect.gives_up and not seen.raises else ""


def refused_lines(
    divergence: Divergence, compiled: Mapping[str, Any], suspects: Sequence[Suspect]
) -> frozenset[tuple[str, int]]:
    """Where an error of a region is a break of its graph, and no finding stands."""
    call = compiled["calls"][divergence.call]
    if divergence.channel is not Channel.ERROR or "error" not in call or not call.get("function"):
        return frozenset()
    told = [one for one in breaks_of(call["compiled"]) if one.raises] if "compiled" in call else []
    named = {place for suspect in suspects if not suspect.is_probe for place in suspect.places}
    return frozenset(one.lines[-1][:2] for one in told) - named


def given_up_before(suspect: Suspect, arms: Arms) -> str:
    """After which break torch was not looking any more when it came to a finding where none is; "" if it was."""
    for compiled in arms.compiled.values():
        if first := next(_on_line(suspect, _calls(suspect, compiled, arms)), None):
            return f"torch breaks the graph at another expression of the line before: {first.text}"
        for call in _calls(suspect, compiled, arms):
            for one in fall_backs_of(call):
                behind = one.path == suspect.path and one.at < min(suspect.lines) <= one.last
                if one.at and (behind or suspect.hidden):
                    return f"torch gave up `{one.function}` on line {one.at}: {one.text}"
    return ""


def _calls(suspect: Suspect, compiled: Mapping[str, Any], arms: Arms) -> Iterator[Mapping[str, Any]]:
    """What was compiled in the calls that have to do with a finding about breaks."""
    if suspect.experiment is not Experiment.BREAK:
        return
    for number, call in enumerate(compiled.get("calls", ())):
        if "compiled" in call and suspect.number not in arms.foreign.get(number, ()):
            yield call["compiled"]
