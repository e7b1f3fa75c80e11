"""What is compiled anew in a run: which finding foretold it, and when that nothing is means anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.judging import judge
from nonstrict.confirm.recompiling import asks_of
from nonstrict.findings import Status, Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, arms, call, error, failing, suspect

if TYPE_CHECKING:
    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.suspects import Suspect

STEP = Subject("argument", "self", (".step",))
AGAIN = suspect("NST804", Experiment.RECOMPILED, subject=STEP)
LIMIT = suspect("NST803", Experiment.LIMIT, subject=STEP)


def again(*source: str, had: int = 1, limit: bool = False, line: int = 0) -> dict[str, Any]:
    """One more compilation, for a guard on a source."""
    return {
        "function": "Net.forward",
        "path": FILE,
        "line": 1,
        "had": had,
        "limit": limit,
        "guard": f"{'.'.join(source)} == {had - 1}",
        "sources": [list(source)],
        "lines": [[FILE, line]],
    }


def calls(*told: list[dict[str, Any]], **fields: Any) -> list[dict[str, Any]]:
    """One call after another, in each of which a counter goes up."""
    return [
        call(
            2.0,
            state={"Net.step": [f"int {number}", f"int {number + 1}"]},
            compiled={"graphs": [], "breaks": [], "eager": [], "skipped": "", "again": one},
            **fields,
        )
        for number, one in enumerate(told)
    ]


def judged(one: Suspect, *told: list[dict[str, Any]], beside: Suspect | None = None, **fields: Any) -> Judgement:
    made = calls(*told, **fields)
    return judge([one] if beside is None else [one, beside], arms(made, made))[one.number]


def test_a_guard_that_failed_on_the_subject() -> None:
    told = judged(AGAIN, [], [again("self", "step")], [again("self", "step", had=2)])
    assert told.status is Status.CONFIRMED
    assert told.evidence == "`Net.forward` was compiled 3 times; the guard that failed in call 3: self.step == 1"
    assert {outcome.result for outcome in told.outcomes} == {"recompiled"}


def test_the_limit_takes_that_it_is_reached() -> None:
    several = [[again("self", "step", had=had)] for had in range(1, 8)]
    reached = judged(LIMIT, [], *several, [again("self", "step", had=8, limit=True)])
    assert reached.status is Status.CONFIRMED
    assert "was compiled 8 times" in reached.evidence
    assert "from call 9 on it runs in eager mode, as a guard failed: self.step == 7" in reached.evidence
    short = judged(LIMIT, [], *several)
    assert (short.status, short.reason) == (Status.INCONCLUSIVE, "few-values")


def test_the_limit_where_the_graph_must_not_break() -> None:
    made = calls([], [again("self", "step", had=8, limit=True)])
    failed = failing(error("FailOnRecompileLimitHit", "Hard failure"), compiled=made[1]["compiled"])
    told = judge([LIMIT], arms(made, [made[0], failed]))[LIMIT.number]
    assert told.status is Status.CONFIRMED
    assert "in call 2 torch raises, as a guard failed: self.step == 7" in told.evidence


@pytest.mark.parametrize(
    ("source", "is_own"),
    [
        (("self", "step"), True),
        (("self", "step", "value"), True),  # lies in it
        (("net", "self", "step"), True),  # reached through another object
        (("self", "other"), False),
        (("self",), False),
        (("step",), False),
    ],
)
def test_of_what_a_guard_asks(source: tuple[str, ...], *, is_own: bool) -> None:
    told = judged(AGAIN, [], [again(*source)])
    assert (told.status is Status.CONFIRMED) is is_own


def test_an_argument_of_a_module_of_torch_has_a_position_for_a_name() -> None:
    of_position = suspect("NST804", Experiment.RECOMPILED, subject=Subject("argument", "args[0]"))
    assert judged(of_position, [], [again("args", "0")]).status is Status.CONFIRMED
    assert judged(of_position, [], [again("args", "1")]).status is not Status.CONFIRMED


def test_the_line_of_a_guard_tells_where_its_source_has_no_name() -> None:
    nameless = again("G", "__closure__", line=LINE)
    assert judged(AGAIN, [], [nameless]).status is Status.CONFIRMED
    other = suspect("NST804", Experiment.RECOMPILED, number=1, subject=Subject("global", "G", (".__closure__",)))
    assert judged(AGAIN, [], [nameless], beside=other).status is not Status.CONFIRMED


def test_grad_modes_have_no_source() -> None:
    of_mode = suspect("NST804", Experiment.RECOMPILED, subject=None)
    assert judged(of_mode, [], [again() | {"sources": []}]).status is Status.CONFIRMED
    assert judged(of_mode, [], [again("x")]).status is not Status.CONFIRMED


def test_nothing_is_compiled_again() -> None:
    assert judged(AGAIN, [], []).status is Status.REFUTED
    many = judged(LIMIT, *[[] for _ in range(11)])
    assert many.status is Status.REFUTED
    assert many.evidence.endswith("and torch does not give it up")


def test_what_does_not_vary_refutes_nothing() -> None:
    given = suspect("NST804", Experiment.RECOMPILED, subject=Subject("argument", "x"))
    alike = {"inputs": {"x": "tensor float32 [2, 2] aa"}}
    made = [call(2.0, **alike), call(2.0, inputs={"x": "tensor float32 [2, 2] bb"})]
    told = judge([given], arms(made, made))[given.number]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "few-values")
    made[1]["inputs"] = {"x": "tensor float32 [3, 2] bb"}
    assert judge([given], arms(made, made))[given.number].status is Status.REFUTED


def test_a_torch_that_does_not_tell_refutes_nothing() -> None:
    made = calls(*[[] for _ in range(11)])
    for one in made:
        del one["compiled"]["again"]
    told = judge([LIMIT], arms(made, made))[LIMIT.number]
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "torch-too-old")


def test_another_guard_comes_first() -> None:
    told = judged(LIMIT, *[[] for _ in range(11)], [again("self", "other", had=8, limit=True)])
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "other-guard")
    assert told.evidence == "the guard that failed in call 12: self.other == 7"
    told = judged(AGAIN, [], [again("self", "other")])
    assert (told.status, told.reason) == (Status.INCONCLUSIVE, "other-guard")
    told = judged(LIMIT, *[[] for _ in range(11)], [again("self", "other")])
    assert told.status is Status.REFUTED


@pytest.mark.parametrize(
    ("path", "source", "asked"),
    [
        ((".blocks", "[]", ".requires_grad"), ("self", "blocks", "3", "bias"), True),
        ((".blocks", "[]", ".requires_grad"), ("self", "head", "bias"), False),
        ((".steps",), ("self", "steps"), True),
        (("~.shape", "[1]"), ("self",), True),
    ],
)
def test_what_a_guard_of_a_tensor_asks_of(path: tuple[str, ...], source: tuple[str, ...], *, asked: bool):
    assert asks_of([source], Subject("argument", "self", path)) is asked
