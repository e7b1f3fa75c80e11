"""At whose door a divergence is laid, where several findings might have caused it."""

from __future__ import annotations

from nonstrict.confirm.judging import judge
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import SCALE, arms, call, suspect

SCALED = suspect("NST101", Experiment.CHANGE, subject=SCALE)


def test_a_change_that_eager_code_does_not_mind_is_not_blamed_for_what_went_stale_before():
    other = suspect("NST104", Experiment.CHANGE, number=2, subject=Subject("global", "SHIFT", ()))
    later = {"SHIFT": ["int 0", "int 1"]}
    set_to_3 = {"SCALE": ["int 2", "int 3"]}
    eager = [call(2.0), call(3.0, between=set_to_3), call(3.0, between=later)]
    compiled = [call(2.0), call(2.0, between=set_to_3), call(2.0, between=later)]
    told = judge([SCALED, other], arms(eager, compiled))
    assert told[SCALED.number].status is Status.CONFIRMED
    assert (told[2].status, told[2].reason) == (Status.INCONCLUSIVE, "insensitive")
