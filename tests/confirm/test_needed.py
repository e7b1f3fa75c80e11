"""Judgements where calls were followed only up to one that needs what could not be loaded."""

from __future__ import annotations

import pytest

from nonstrict.confirm.judging import judge
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import LINE, SCALE, arms, call, error, failing, suspect

SET_TO_3 = {"SCALE": ["int 2", "int 3"]}
CHANGE = suspect("NST101", Experiment.CHANGE, subject=SCALE)
EFFECT = suspect("NST201", Experiment.EFFECT)
NEEDS = "`apex` could not be imported: No module named 'apex'"


def test_agreement_up_to_a_call_that_needs_what_is_missing_says_nothing():
    made = arms([call(2.0), call(3.0, between=SET_TO_3)], [call(2.0), call(3.0)])
    assert judge([CHANGE], made)[CHANGE.number].status is Status.REFUTED
    for cut in (
        made._replace(eager={**made.eager, "needs": [NEEDS]}),
        made._replace(compiled={**made.compiled, "inductor": {**made.compiled["inductor"], "needs": [NEEDS]}}),
    ):
        judgement = judge([CHANGE], cut)[CHANGE.number]
        assert (judgement.status, judgement.reason) == (Status.INCONCLUSIVE, "needs")
        assert judgement.evidence == NEEDS


def test_a_divergence_before_a_call_that_needs_what_is_missing_still_confirms():
    made = arms([call(2.0), call(3.0, between=SET_TO_3)], [call(2.0), call(2.0, between=SET_TO_3)])
    cut = made._replace(eager={**made.eager, "needs": [NEEDS]})
    assert judge([CHANGE], cut)[CHANGE.number].status is Status.CONFIRMED


@pytest.mark.parametrize("kind", ["MissingModuleError", "ModuleNotFoundError"])
def test_what_eager_code_could_not_import_is_what_it_needs(kind: str):
    made = failing(error(kind, NEEDS, LINE))
    judgement = judge([EFFECT], arms([made], [made]))[EFFECT.number]
    assert (judgement.reason, judgement.evidence) == ("needs", NEEDS)
