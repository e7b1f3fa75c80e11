"""Which calls of which regions a run makes and follows, for what, and what it cannot tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.confirm.drivers import DIRECT
from nonstrict.confirm.programs import EAGER, MAX_CALLS, Change, Schedule, whole, widened
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment, Trait

if TYPE_CHECKING:
    from collections.abc import Sequence

    from nonstrict.confirm.arms import ArmRunner
    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.programs import Program
    from nonstrict.confirm.suspects import Suspect

#: Calls that are followed for each further function, and in all.
_MORE_CALLS, MOST_CALLS = 4, 60
#: Reasons of experiments that compared something.
_COMPARED = frozenset(
    {
        *("shared", "blocked", "insensitive", "few-values", "few-runs", "other-guard", "no-cuda-graphs"),
        *("unclear-owner", "eager-nondeterministic", "differs-before"),
    }
)


def loadable(arms: ArmRunner, program: Program, schedule: Schedule) -> Schedule:
    """The schedule with as much of the file as it takes to load it."""
    widenings = (widened, whole) if arms.limits.full_import else (widened,)
    for widen in (None, *widenings):
        of = schedule.program or program
        candidate = schedule._replace(driver=widen(of, schedule.driver)) if widen else schedule
        for lines in (False, True):
            arms.start(program, candidate, EAGER, lines=lines)
        eager = arms.trace(program, candidate, EAGER)
        if eager["calls"] or not eager.get("failure"):
            return candidate
    return schedule


def in_turn(schedule: Schedule, changes: Sequence[Change]) -> Schedule:
    """The schedule with one call after each change, and one after it is undone.

    The first of all repetitions goes before: should torch compile anew for what is repeated, it is not for a change.
    """
    made = tuple(change._replace(at=2 * n, until=2 * n + 1) for n, change in enumerate(changes, 1))
    repeat = 2 * len(made) + 2
    return schedule._replace(repeat=repeat, changes=made, calls=max(schedule.calls, repeat))


def varying(schedule: Schedule, change: Change | None, *, goes_on: bool) -> tuple[Schedule, ...]:
    """More calls, of the program's where it goes on; then as many as torch compiles a function for, each changed."""
    again = schedule._replace(repeat=MAX_CALLS, calls=max(schedule.calls, MAX_CALLS))
    changes = () if change is None else tuple(change._replace(at=call) for call in range(1, MAX_CALLS))
    longer = schedule._replace(calls=MOST_CALLS, each=MOST_CALLS)
    return (*((longer,) if goes_on else ()), again, *((again._replace(changes=changes),) if changes else ()))


def calls_for(suspects: Sequence[Suspect]) -> int:
    """How many calls of regions are followed: some for each function, all that it takes where torch may give it up."""
    functions = {suspect.function for suspect in suspects}
    given_up = {suspect.function for suspect in suspects if suspect.experiment is Experiment.LIMIT}
    others = max(len(functions) - max(len(given_up), 1), 0)
    return min(MAX_CALLS * max(len(given_up), 1) + _MORE_CALLS * others, MOST_CALLS)


def is_trial(schedule: Schedule) -> bool:
    """Whether it is only supposed that a schedule has to do with a function: tests, and callers in other files."""
    return schedule.program is not None or schedule.driver.kind == "test"


def in_region(suspect: Suspect, schedule: Schedule, judgement: Judgement) -> Judgement:
    """The judgement, unless it takes a region of the program, with what it does after the call, to show a hazard."""
    made = bool(schedule.alone) or schedule.driver.kind in DIRECT
    if suspect.has(Trait.NEEDS_REGION) and made and judgement.status is Status.REFUTED:
        return judgement._replace(status=Status.INCONCLUSIVE, reason="insensitive", evidence="")
    return judgement


def is_idle(schedule: Schedule, judgement: Judgement) -> bool:
    """Whether a trial did not get as far as a comparison, which then says nothing about the function."""
    told = judgement.status is not Status.INCONCLUSIVE or judgement.reason in _COMPARED
    own = schedule.program is None and judgement.reason == "not-compiled"
    return is_trial(schedule) and not told and not own
