"""What Inductor takes from a cache, held against Inductor without caches."""

from __future__ import annotations

from nonstrict.confirm.judging import judge
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import arms, call, suspect, trace

KEPT = suspect("NST805", Experiment.STALE, subject=Subject("argument", "s"))


def calls(*results: float) -> list[object]:
    """Calls with one value after another."""
    return [call(result, inputs={"s": f"float {number}"}) for number, result in enumerate(results)]


EAGER = calls(1.0, 2.0, 3.0, 4.0)
STALE = calls(1.0, 2.0, 2.0, 2.0)


def test_the_caches_are_the_cause() -> None:
    made = arms(EAGER, EAGER, inductor=STALE)._replace(uncached=trace(*EAGER))
    told = judge([KEPT], made)[KEPT.number]
    assert told.status is Status.CONFIRMED
    assert told.evidence == (
        "call 3: eager 3, compiled 2, and 2 apart in call 4; without torch's caches it computes what eager does"
    )
    assert [(one.backend, one.result) for one in told.outcomes] == [("aot_eager", "same"), ("inductor", "silent-wrong")]


def test_what_differs_without_caches_too_is_another_matter() -> None:
    made = arms(EAGER, EAGER, inductor=STALE)._replace(uncached=trace(*STALE))
    assert judge([KEPT], made)[KEPT.number].status is Status.INCONCLUSIVE


def test_a_run_without_caches_that_came_to_no_end() -> None:
    failed = {"calls": [], "failure": "stopped after 60 s", "reason": "timeout"}
    told = judge([KEPT], arms(EAGER, EAGER, inductor=STALE)._replace(uncached=failed))[KEPT.number]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "timeout")


def test_agreement_refutes_from_the_third_value_on() -> None:
    made = arms(EAGER, EAGER)._replace(uncached=trace(*EAGER))
    assert judge([KEPT], made)[KEPT.number].status is Status.REFUTED
    few = arms(EAGER[:2], EAGER[:2])._replace(uncached=trace(*EAGER[:2]))
    told = judge([KEPT], few)[KEPT.number]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "few-values")
