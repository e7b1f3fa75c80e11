"""What is known of regions, from runs, experiments and the analysis, as a budget sees it."""

from __future__ import annotations

from nonstrict.check.budgets import figures, held, unlimited
from nonstrict.coverage import Break, Region
from nonstrict.findings import Line, Measured, Recompiled, Span
from nonstrict.report.budget import Known
from nonstrict.settings.budget import Budget

PATH = "/project/model.py"
WHERE = Span(PATH, 4, 0, 4, 9)


def region(*, least: int = 1, most: int = 1, whole: bool = False, conditional: bool | None = None) -> Region:
    broken = () if conditional is None else (Break(WHERE, "`print()`", "GB0059", conditional, "", ()),)
    return Region(WHERE, WHERE, "Net.forward", WHERE, graphs=(least, most), whole=whole, breaks=broken)


def measured(graphs: int, again: int, *backends: str, function: str = "Net.forward") -> Measured:
    guards = (Recompiled("n == 1", (("n",),), (Line(PATH, 5),), again),)
    return Measured(function, PATH, 4, 1, (3,) * graphs, again, (), (), "", backends, guards)


def test_a_run_tells_both_numbers():
    (one,) = figures([region()], [(7.0, measured(2, 3))])
    assert one.known == {"graphs": Known(2, 2, 7.0), "recompilations": Known(3, 3, 7.0)}


def test_an_experiment_does_not_tell_how_often_a_program_compiles_again():
    (one,) = figures([region()], [(7.0, measured(2, 3, "aot_eager"))])
    assert one.known == {"graphs": Known(2, 2, 7.0)}


def test_a_run_counts_more_than_an_experiment():
    (one,) = figures([region()], [(8.0, measured(2, 3, "aot_eager")), (7.0, measured(1, 0))])
    assert one.known["graphs"] == Known(1, 1, 7.0)


def test_of_several_applications_the_one_that_takes_most_is_foretold():
    (one,) = figures([region(least=1, most=2), region(least=2, most=3), region()], [])
    assert one.known == {"graphs": Known(2, 3)}


def test_a_region_that_must_not_break_and_does_has_no_graph():
    assert figures([region(most=2, whole=True, conditional=False)], [])[0].known == {"graphs": Known(0, 0)}
    assert figures([region(most=2, whole=True, conditional=True)], [])[0].known == {"graphs": Known(0, 1)}


def test_what_a_run_compiled_and_is_no_region_counts_only_where_it_is_named():
    known = figures([], [(7.0, measured(2, 0, function="helper"))])
    assert list(held(known, [Budget("model.py", "/project", 1)])) == []
    assert [one.state for one in held(known, [Budget("model.py::helper", "/project", 1)])] == ["exceeded"]
    assert unlimited(known, []) == ()


def test_the_state_of_a_number():
    def state(known: Measured | None, allowed: int, key: str = "model.py::Net") -> str:
        runs = [(7.0, known)] if known is not None else []
        (one,) = held(figures([region(least=1, most=2)], runs), [Budget(key, "/project", allowed)])
        return one.state

    assert state(measured(2, 0), 2) == "kept"
    assert state(measured(3, 0), 2) == "exceeded"
    assert state(measured(1, 0), 2) == "fell"
    assert state(measured(1, 0), 2, "model.py") == "kept", "others below may take more"
    assert state(measured(0, 0), 2) == "not-compiled"
    assert state(measured(0, 0), 0) == "kept"
    assert state(None, 1) == "kept", "only the least is sure"
    assert state(None, 0) == "exceeded"
    assert state(None, 9) == "kept", "what is foretold is no measurement"
