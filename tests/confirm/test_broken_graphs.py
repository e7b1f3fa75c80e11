"""Breaks of the graph where it may break: what torch tells of them is the proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nonstrict.confirm.judging import judge
from nonstrict.confirm.measuring import as_json, from_json, measured, united
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, LINE, arms, call, suspect, trace

if TYPE_CHECKING:
    from nonstrict.confirm.judging import Judgement
    from nonstrict.confirm.traces import Arms

BREAK = suspect("NST701", Experiment.BREAK, column=4)
GIVING_UP = BREAK._replace(gives_up=True)
BUILTIN = "Failed to trace builtin operator"


def broken(*lines: int, reason: str = BUILTIN, column: int = 4) -> dict[str, Any]:
    """A break of the graph as the agent tells of it, with the user's lines that lead there."""
    told = [[FILE, line, column, column + 5] for line in lines]
    return {"type": reason, "id": "GB0059", "told": "Because.", "hint": "Do not.", "lines": told, "raises": False}


def left(at: int, *, rest: bool = False, last: int = 40) -> dict[str, Any]:
    """A function that is left to plain Python after a break."""
    why = {"type": "graph break in loop", "id": "GB7000"}
    return {"function": "scaled", "path": FILE, "line": 2, "last": last, "rest": rest, "at": at, **why}


def compiled(*breaks: dict[str, Any], eager: tuple[dict[str, Any], ...] = (), graphs: tuple[int, ...] = (2,)) -> Any:
    """What one call compiled."""
    return {"graphs": list(graphs), "breaks": list(breaks), "eager": list(eager), "skipped": ""}


def breaking(*breaks: dict[str, Any], eager: tuple[dict[str, Any], ...] = ()) -> Arms:
    """Arms that agree, and in which the graph broke."""
    first = call(2.0, compiled=compiled(*breaks, eager=eager))
    return arms([call(2.0), call(2.0)], [first, call(2.0, compiled=compiled(graphs=()))])


def judged(made: Arms, of: Any = BREAK, *others: Any) -> Judgement:
    """The judgement of one finding, beside others."""
    return judge([of, *others], made)[of.number]


def test_the_graph_breaks_on_the_line_of_a_finding():
    judgement = judged(breaking(broken(3, 4), broken(18, LINE)))
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence == "torch breaks the graph there: Failed to trace builtin operator (GB0059)"
    assert [one.result for one in judgement.outcomes] == ["graph-break", "graph-break"]


def test_of_several_constructs_on_a_line_the_one_at_the_column_counts():
    judgement = judged(breaking(broken(LINE, reason="Another", column=10), broken(LINE)))
    assert BUILTIN in judgement.evidence
    assert "Another" in judged(breaking(broken(LINE, reason="Another", column=10))).evidence


def test_a_break_at_another_finding_of_the_line_does_not_confirm():
    other = BREAK._replace(number=BREAK.number + 1, column=10)
    judgement = judged(breaking(broken(LINE, reason="Another", column=10)), BREAK, other)
    assert (judgement.status, judgement.reason) == (Status.INCONCLUSIVE, "blocked")
    assert judgement.evidence == "torch breaks the graph at another expression of the line before: Another (GB0059)"


def test_a_break_elsewhere_proves_nothing():
    refusal = suspect("NST505", Experiment.REFUSAL)
    judgement = judged(breaking(broken(LINE, 18)))
    assert judgement.status is Status.REFUTED
    assert judgement.evidence.endswith(", and the graph does not break there")
    assert judge([refusal], breaking(broken(LINE)))[refusal.number].status is Status.REFUTED


def test_breaks_in_calls_that_have_nothing_to_do_with_a_finding_do_not_count():
    made = breaking(broken(LINE))._replace(foreign={0: frozenset({BREAK.number})})
    assert judged(made).status is Status.REFUTED


def test_how_torch_goes_on_is_told():
    whole = judged(breaking(broken(LINE), eager=(left(LINE),)), GIVING_UP)
    assert whole.evidence.endswith("(GB0059), after which all of `scaled` runs in eager mode")
    rest = judged(breaking(broken(LINE), eager=(left(LINE, rest=True),)))
    assert rest.evidence.endswith("(GB0059), after which the rest of `scaled` runs in eager mode")


def test_a_fall_back_that_is_foretold_and_does_not_come_is_told():
    judgement = judged(breaking(broken(LINE)), GIVING_UP)
    assert judgement.status is Status.CONFIRMED
    assert judgement.evidence.endswith("after which torch continues, contrary to the finding")


def test_what_comes_behind_the_break_that_torch_gave_up_at_is_not_refuted():
    judgement = judged(breaking(broken(3), eager=(left(3),)))
    assert (judgement.status, judgement.reason) == (Status.INCONCLUSIVE, "blocked")
    assert judgement.evidence == "torch gave up `scaled` on line 3: graph break in loop (GB7000)"
    assert judged(breaking(broken(18), eager=(left(18),))).status is Status.REFUTED
    assert judged(breaking(broken(18), eager=(left(18),)), BREAK._replace(hidden=True)).reason == "blocked"
    assert judged(breaking(), BREAK._replace(hidden=True)).status is Status.REFUTED


def test_regions_are_measured_over_their_calls():
    region = {"region": "scaled", "function": "scaled", "path": FILE, "line": 2}
    calls = [
        call(2.0, **region, compiled=compiled(broken(LINE), graphs=(3, 1), eager=(left(LINE),))),
        call(2.0, **region, compiled=compiled(broken(LINE), broken(18), graphs=(4,))),
        call(2.0, **{**region, "function": "other"}, compiled=compiled()),
        call(2.0, **region),
    ]
    scaled, other = measured(trace(*calls), "aot_eager")
    assert (scaled.function, scaled.calls, scaled.graphs, scaled.later) == ("scaled", 2, (3, 1), 1)
    assert [one.lines[-1].line for one in scaled.breaks] == [LINE, 18]
    assert [one.at for one in scaled.fallbacks] == [LINE]
    assert other.breaks == ()
    assert from_json(as_json([scaled, other])) == (scaled, other)


def test_what_a_region_is_compiled_again_for_is_counted_by_what_the_guards_ask_of():
    region = {"region": "scaled", "function": "scaled", "path": FILE, "line": 2}

    def again(guard: str, *source: str, limit: bool = False, lines: tuple[int, ...] = (LINE,)) -> dict[str, object]:
        told = {"function": "scaled", "path": FILE, "line": 2, "had": 1, "limit": limit, "guard": guard}
        return {**told, "sources": [list(source)], "lines": [[FILE, line] for line in lines]}

    listed = ([], [again("n == 1", "n"), again("x.size()[0] == 3", "x", lines=())], [again("n == 2", "n")])
    last = [again("n == 3", "n", limit=True)]
    calls = [call(2.0, **region, compiled={**compiled(graphs=(1,)), "again": each}) for each in (*listed, last)]
    (scaled,) = measured(trace(*calls), "aot_eager")
    told = [(one.guard, one.times, one.limit, one.lines[-1].line) for one in scaled.again]
    assert told == [("n == 3", 2, True, LINE), ("x.size()[0] == 3", 1, False, 2)]
    assert from_json(as_json([scaled])) == (scaled,)
    (both,) = united(measured(trace(calls[0]), "inductor"), [scaled])
    assert both.again == scaled.again


def test_what_two_arms_tell_of_a_region_becomes_one():
    region = {"region": "scaled", "function": "scaled", "path": FILE, "line": 2}
    one = measured(trace(call(2.0, **region, compiled=compiled(broken(LINE)))), "aot_eager")
    more = measured(trace(call(2.0, **region, compiled=compiled(broken(LINE), broken(3), graphs=(9,)))), "inductor")
    (both,) = united(one, more)
    assert (both.graphs, both.backends) == ((2,), ("aot_eager", "inductor"))
    assert [each.lines[-1].line for each in both.breaks] == [LINE, 3]
