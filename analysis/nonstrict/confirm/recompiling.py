"""What Dynamo compiled anew in a run, held against the findings that foretell it (NST803, NST804).

A finding is confirmed by a guard that failed, on what it is about: by one, or by so many that torch gave the function
up. Calls in which nothing varied, or too little, refute nothing.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from nonstrict.confirm.fingerprints import form_of
from nonstrict.confirm.sensitivity import changed, moved_before
from nonstrict.program.contracts.regions.freezing import ATTRIBUTE
from nonstrict.program.domain.access_paths import SIZES
from nonstrict.rules.expectation import Experiment

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.traces import Arms
    from nonstrict.findings import Subject

#: The findings that are about compilations.
ASKED = frozenset({Experiment.RECOMPILED, Experiment.LIMIT})
#: How many values have to be seen before agreement means something: torch gives a function up after 8 compilations, and
#: what is stale is so from the third value on.
_ENOUGH = {Experiment.LIMIT: 10, Experiment.STALE: 3}
_STEP = re.compile(r"\w+")


class Again(NamedTuple):
    """A function that was compiled anew in the call number `call`, or given up; see `nonstrict_agent`'s record."""

    call: int
    function: str
    had: int
    limit: bool
    guard: str
    sources: frozenset[tuple[str, ...]]
    places: frozenset[tuple[str, int]]


def recompiled(suspect: Suspect, suspects: Sequence[Suspect], compiled: Mapping[str, Any], arms: Arms) -> str:
    """What torch compiled anew, or gave up, for what a finding is about; "" if it did not."""
    if suspect.experiment not in ASKED:
        return ""
    rivals = [one for one in suspects if one.experiment in ASKED and one.number != suspect.number]
    own = [one for one in _again(suspect, compiled, arms) if _is_of(one, suspect, rivals)]
    if suspect.experiment is Experiment.LIMIT:
        own = [one for one in own if one.limit]
    if not own:
        return ""
    first, last = own[0], own[-1]
    if first.limit:
        number, raised = first.call + 1, "error" in compiled["calls"][first.call]
        end = f"in call {number} torch raises" if raised else f"from call {number} on it runs in eager mode"
        return f"`{first.function}` was compiled {_times(first.had)}; {end}, as a guard failed: {first.guard}"
    count = max(one.had + (not one.limit) for one in own if one.function == last.function)
    return f"`{last.function}` was compiled {_times(count)}; {_failure(last)}"


def other_guard(suspect: Suspect, arms: Arms) -> str:
    """Which guard failed in the place of one on what a finding is about; "" if none did.

    Dynamo asks no further than to the first that fails, and compiles for all that changed.
    """
    wants_limit = suspect.experiment is Experiment.LIMIT
    for compiled in arms.compiled.values():
        for one in _again(suspect, compiled, arms):
            if one.limit or not wants_limit:
                return _failure(one)
    return ""


def for_others(suspect: Suspect, arms: Arms) -> set[int]:
    """The calls for which an arm compiled a function anew, and not for what a finding is about."""
    again = (one for compiled in arms.compiled.values() for one in _again(suspect, compiled, arms))
    return {one.call for one in again if not asks_of(one.sources, suspect.subject)}


def compiling(arms: Arms) -> set[int]:
    """The calls for which an arm compiled something: the first of each region, though no graph may come of it."""
    first: dict[str, int] = {}
    for number, call in enumerate(arms.eager["calls"]):
        first.setdefault(str(call.get("region")), number)
    traces = (enumerate(compiled.get("calls", ())) for compiled in arms.compiled.values())
    graphs = {number for calls in traces for number, call in calls if call.get("compiled", {}).get("graphs")}
    return graphs.union(first.values())


def _failure(one: Again) -> str:
    return f"the guard that failed in call {one.call + 1}: {one.guard}"


def varied_enough(suspect: Suspect, arms: Arms) -> bool:
    """Whether what a finding is about had so many values that torch would have had to compile anew, or to give up."""
    calls = [call for _, call in own_calls(suspect, arms.eager, arms)]
    changes = sum(varies(suspect, calls, index) for index in range(1, len(calls)))
    return changes + 1 >= _ENOUGH.get(suspect.experiment, 2)


def is_deaf(compiled: Mapping[str, Any]) -> bool:
    """Whether the torch of an arm does not report what it compiles anew."""
    told = [call["compiled"] for call in compiled.get("calls", ()) if "compiled" in call]
    return bool(told) and not any("again" in one for one in told)


def own_calls(suspect: Suspect, trace: Mapping[str, Any], arms: Arms) -> list[tuple[int, Mapping[str, Any]]]:
    """The calls of the region that a finding is about, with their numbers; all that may be, where none has its name."""
    named = any(call.get("function") == suspect.function for call in arms.eager["calls"])
    return [
        (number, call)
        for number, call in enumerate(trace.get("calls", ()))
        if suspect.number not in arms.foreign.get(number, ())
        and (not named or call.get("function") == suspect.function)
    ]


def ends_early(suspect: Suspect, compiled: Mapping[str, Any], arms: Arms) -> bool:
    """Whether an arm made fewer calls of a region than eager code did."""
    made, wanted = (len(own_calls(suspect, trace, arms)) for trace in (compiled, arms.eager))
    return made < wanted


def _again(suspect: Suspect, compiled: Mapping[str, Any], arms: Arms) -> Iterator[Again]:
    for number, call in own_calls(suspect, compiled, arms):
        for one in call.get("compiled", {}).get("again", ()):
            yield Again(
                number,
                str(one["function"]),
                int(one["had"]),
                bool(one["limit"]),
                str(one["guard"]),
                frozenset(tuple(map(str, source)) for source in one["sources"]),
                frozenset((str(path), int(line)) for path, line in one["lines"]),
            )


def _is_of(one: Again, suspect: Suspect, rivals: Iterable[Suspect]) -> bool:
    others = (rival.subject for rival in rivals)
    return concerns(one.sources, suspect.subject, others, on_line=bool(one.places & suspect.places))


def concerns(
    sources: Collection[tuple[str, ...]], subject: Subject | None, rivals: Iterable[Subject | None], *, on_line: bool
) -> bool:
    """Whether a guard that failed is on the subject of a finding; else on its line, and on no other's subject."""
    return asks_of(sources, subject) or (on_line and not any(asks_of(sources, rival) for rival in rivals))


def asks_of(sources: Collection[tuple[str, ...]], subject: Subject | None) -> bool:
    """Whether a guard asks of a subject; of one that has no name, if the guard asks of none."""
    if subject is None:
        return not sources
    wanted = segments_of(subject)
    # A module is reached through others, and Dynamo names the globals of another one without it.
    least = 1 if subject.origin == "global" else 2
    return any(_is_same(wanted, source, least) for source in sources)


def segments_of(subject: Subject) -> tuple[str, ...]:
    """The names and keys that lead to a subject; of what a tensor is to that, which Dynamo asks for it."""
    told = subject.path[: subject.path.index(SIZES)] if SIZES in subject.path else subject.path
    told = told[:-1] if told[-1:] == (f".{ATTRIBUTE}",) else told
    steps = (found[0] for step in told if (found := _STEP.findall(step)))
    return (*_STEP.findall(subject.name), *steps)


def _is_same(wanted: tuple[str, ...], source: tuple[str, ...], least: int) -> bool:
    """Whether a source is a subject, or lies in it, or ends in the same steps, of which `least` are needed."""
    if source[: len(wanted)] == wanted:
        return True
    common = min(len(wanted), len(source))
    return common >= least and wanted[-common:] == source[-common:]


def varies(suspect: Suspect, calls: Sequence[Mapping[str, Any]], index: int) -> bool:
    """Whether what a finding is about is another one in a call than in the one before."""
    subject = suspect.subject
    before, now = (call.get("inputs", {}) for call in calls[index - 1 : index + 1])
    given = {path for path in {**before, **now} if form_of(before.get(path)) != form_of(now.get(path))}
    if subject is not None and subject.origin == "argument":
        own = {path for path in given if _STEP.findall(path)[:1] == [subject.name]}
        return bool(own or changed(suspect, moved_before(calls, index)) if subject.path else own)
    moved = moved_before(calls, index)
    if subject is None:
        return any(path.startswith("<") and not path.startswith("<NumPy") for path in moved)
    return changed(suspect, moved) or changed(suspect, given)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")
