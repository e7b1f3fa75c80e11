"""Applications of `torch.compile`: what runs tell of them is the proof, whatever their regions compute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.judging import judge, of_application
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, MARKER, arms, call, suspect, trace

if TYPE_CHECKING:
    from nonstrict.confirm.traces import Arms

WASTED = suspect("NST801", Experiment.COMPILED)
RENAMED = suspect("NST802", Experiment.IDENTITY)


def applied(calls: int, graphs: int, renamed: int = 0, line: int = MARKER) -> list[object]:
    """An application as the agent tells of it."""
    return [FILE, line, calls, graphs, renamed]


def applying(*applications: object) -> Arms:
    """Arms that agree, and in which `torch.compile` was applied."""
    made = arms([call(2.0), call(2.0)], [call(2.0), call(2.0)])
    return made._replace(compiled={name: {**one, "applied": list(applications)} for name, one in made.compiled.items()})


@pytest.mark.parametrize(
    ("applications", "status", "evidence"),
    [
        ([applied(0, 0)], Status.CONFIRMED, "was never called: no frame was compiled"),
        ([applied(3, 0)], Status.CONFIRMED, "3 calls of what `torch.compile` returned compiled no graph"),
        ([applied(0, 0), applied(2, 1)], Status.REFUTED, "1 graphs were compiled"),
        ([applied(3, 0), applied(2, 1, line=LINE)], Status.INCONCLUSIVE, ""),
        ([applied(0, 0, line=LINE)], Status.INCONCLUSIVE, ""),
        ([], Status.INCONCLUSIVE, ""),
    ],
)
def test_whether_anything_is_compiled(applications: list[object], status: Status, evidence: str):
    judgement = judge([WASTED], applying(*applications))[WASTED.number]
    assert judgement.status is status
    assert evidence in judgement.evidence


def test_without_arms_that_compile_a_call_tells_nothing():
    """Eager code shows that nothing is called, and not what calls would compile."""
    uncalled, called = (trace(applied=[applied(calls, 0)]) for calls in (0, 1))
    assert of_application(WASTED, uncalled, {}).status is Status.CONFIRMED
    assert of_application(WASTED, called, {}).status is Status.INCONCLUSIVE


def test_the_names_of_state():
    assert judge([RENAMED], applying(applied(1, 1, renamed=2)))[RENAMED.number].status is Status.CONFIRMED
    assert judge([RENAMED], applying(applied(1, 1)))[RENAMED.number].status is Status.REFUTED
