"""What Inductor takes from a cache, held against Inductor without caches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.judging import judge
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, arms, call, suspect, tensor, trace

if TYPE_CHECKING:
    from nonstrict.confirm.judging import Judgement

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


def in_place(*numbers: float) -> dict[str, Any]:
    """The calls of a region that returns nothing and leaves one number after another in its argument."""
    names = [f"tensor float32 [1] {number * 1e9:08.0f}" for number in numbers]
    given = zip(["tensor float32 [1] 00", *names], names, strict=False)
    calls = [
        call(inputs={"x": before, "s": f"float {index}"}, arguments={"x": after, "s": f"float {index}"})
        for index, (before, after) in enumerate(given)
    ]
    return trace(*calls, numbers={name: tensor(number) for name, number in zip(names, numbers, strict=True)})


def told_in_place(eager: dict[str, Any], inductor: dict[str, Any], uncached: dict[str, Any]) -> Judgement:
    """The verdict on regions that change what they are given."""
    made = arms((), ())._replace(
        eager=eager,
        control={**eager, "lines": {FILE: [LINE]}, "within": {FILE: [LINE]}},
        compiled={"aot_eager": eager, "inductor": inductor},
        uncached=uncached,
    )
    return judge([KEPT], made)[KEPT.number]


def test_what_a_call_leaves_in_its_arguments_is_evidence() -> None:
    rounded = in_place(1.0, 2.0, 3.000001, 4.0)
    told = told_in_place(in_place(1.0, 2.0, 3.0, 4.0), in_place(1.0, 2.000001, 2.5, 3.0), rounded)
    assert told.status is Status.CONFIRMED
    assert told.evidence == (
        "call 3: `x` in eager: 3; compiled: 2.5; without torch's caches it computes what eager does"
    )
    last = told_in_place(in_place(1.0, 2.0, 3.0), in_place(1.0, 2.0, 2.5), in_place(1.0, 2.0, 3.0))
    assert last.status is Status.CONFIRMED


def test_what_another_region_leaves_is_no_evidence() -> None:
    eager, stale = in_place(1.0, 2.0, 3.0, 4.0), in_place(1.0, 2.0, 2.5, 3.0)
    for one in (eager, stale):
        for number, made in enumerate(one["calls"]):
            made["function"] = "scaled" if number != 2 else "other"
    assert told_in_place(eager, stale, eager).status is Status.INCONCLUSIVE


def test_the_run_without_caches_has_to_be_comparable_up_to_the_evidence() -> None:
    eager, stale = in_place(1.0, 2.0, 3.0, 4.0), in_place(1.0, 2.0, 2.5, 3.0)
    assert told_in_place(eager, stale, in_place(1.0, 2.5, 3.0, 4.0)).status is Status.INCONCLUSIVE


def test_agreement_in_place_refutes_only_where_all_calls_were_compared() -> None:
    eager, rounded = in_place(1.0, 2.0, 3.0, 4.0), in_place(1.0, 2.000001, 3.0, 4.0)
    assert told_in_place(eager, rounded, eager).status is Status.REFUTED
    unknown = {**rounded, "numbers": {}}
    told = told_in_place({**eager, "numbers": {}}, unknown, eager)
    assert (told.status, told.evidence) == (Status.INCONCLUSIVE, "the arguments of call 3 differ already")
