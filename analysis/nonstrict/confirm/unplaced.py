"""Errors that name no line of a finding: such a one is its own only if it is gone where the finding is.

torch refuses a captured tensor, or a number that depends on data, in the same words wherever it comes from, and often
names only the call of the region. A finding of that kind is then taken out, alone; an error that comes all the same has
another cause.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from nonstrict.confirm.evidence import blocked
from nonstrict.confirm.judging import Judgement
from nonstrict.confirm.neutralising import without
from nonstrict.confirm.programs import EAGER
from nonstrict.confirm.traces import cause_of, returns
from nonstrict.findings import Status
from nonstrict.rules.expectation import OF_MANY_CAUSES, Channel

if TYPE_CHECKING:
    from nonstrict.confirm.arms import ArmRunner
    from nonstrict.confirm.programs import Program, Schedule
    from nonstrict.confirm.suspects import Suspect
    from nonstrict.confirm.told import Told

#: Programs without the finding that are tried.
_MOST = 3


def held(told: Told, suspect: Suspect, program: Program, arms: ArmRunner) -> Told:
    """A verdict, unless it rests on errors without a place that come without the finding too."""
    proofs, schedule = told.judgement.proofs, told.schedule
    base, one = (program, suspect) if told.without is None else (told.without.program, told.without.suspect)
    placed = any(proof.channel is not Channel.ERROR or one.places & set(proof.lines) for _, proof in proofs)
    common = suspect.expectation.refusals & OF_MANY_CAUSES
    if told.judgement.status is not Status.CONFIRMED or schedule is None or not proofs or placed or not common:
        return told
    ran = arms.trace(base, schedule, EAGER, lines=True).get("within")
    for other in itertools.islice(without(base, one, ran), _MOST):
        same = _with(schedule, other)
        if not returns(arms.trace(other, same, EAGER)):
            continue
        calls = (call for backend, _ in proofs for call in arms.trace(other, same, backend)["calls"])
        errors = [cause_of(call["error"]).texts for call in calls if "error" in call]
        if any(map(suspect.expectation.foretells, errors)):
            return told._replace(judgement=Judgement(Status.INCONCLUSIVE, "blocked", blocked(proofs[0][1]), ()))
        return told
    return told


def _with(schedule: Schedule, program: Program) -> Schedule:
    """The schedule of a changed program; a driver in another file sees the change too."""
    caller = schedule.program
    if caller is None:
        return schedule
    overlays = {**caller.overlays, **program.overlays, program.path: program.text}
    return schedule._replace(program=caller._replace(overlays=overlays))
