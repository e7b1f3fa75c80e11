"""Breaks of the graph where it may break: what torch tells of them is the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.confirm.judging import judge
from nonstrict.findings import Status
from nonstrict.rules.base import Experiment
from tests.confirm.making import FILE, LINE, arms, call, suspect

if TYPE_CHECKING:
    from nonstrict.confirm.traces import Arms

BREAK = suspect("NST701", Experiment.BREAK)


def broken(*lines: int, reason: str = "Failed to trace builtin operator") -> list[object]:
    """A break of the graph as the agent tells of it, with the user's lines that lead there."""
    return [reason, [[FILE, line] for line in lines]]


def breaking(*breaks: object) -> Arms:
    """Arms that agree, and in which the graph broke."""
    made = arms([call(2.0), call(2.0)], [call(2.0), call(2.0)])
    return made._replace(compiled={name: {**one, "breaks": list(breaks)} for name, one in made.compiled.items()})


def test_the_graph_breaks_on_the_line_of_a_finding():
    judgement = judge([BREAK], breaking(broken(3, 4), broken(18, LINE)))[BREAK.number]
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == "torch breaks the graph there: Failed to trace builtin operator"
    assert [one.result for one in judgement.outcomes] == ["graph-break", "graph-break"]


def test_a_break_elsewhere_proves_nothing():
    refusal = suspect("NST505", Experiment.REFUSAL)
    assert judge([BREAK], breaking(broken(LINE, 18)))[BREAK.number].status is Status.REFUTED
    assert judge([refusal], breaking(broken(LINE)))[refusal.number].status is Status.REFUTED
