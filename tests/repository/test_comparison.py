"""The comparison with other tools: the page says what was found, labels are true, columns are those of today."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.comparison import cases, page, running
from bench.comparison.__main__ import main
from bench.comparison.judging import ONE_GRAPH, alarms, hazard_codes, judged
from bench.comparison.model import Area, Finding, Mark, Program, Setting
from bench.comparison.probing import Outcome
from bench.comparison.programs import all_programs, read
from bench.comparison.results import FILE, about_hazards, load
from bench.comparison.tools import TOOLS
from bench.comparison.truth import described

PROGRAMS = all_programs()
PATHS = [program.path for program in PROGRAMS]


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(Path(sys.executable), tmp_path / "no-commands", tmp_path)


def test_the_page_is_made_of_the_results():
    assert page.PAGE.read_text(encoding="utf-8") == page.rendered(load(), PROGRAMS), "run `make comparison`"
    assert main(["page", "--check"]) == 0


def test_the_results_are_written_as_they_are_read():
    assert load().written() == FILE.read_text(encoding="utf-8")


def test_the_results_are_those_of_all_programs_and_tools():
    results = load()
    assert set(results.truths) == {program.name for program in PROGRAMS}
    assert set(results.findings) == set(TOOLS)
    assert {found.program for reports in results.findings.values() for found in reports} <= set(results.truths)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_labels_say_what_was_measured(program: Program):
    assert program.truth == load().truths[program.name]


@pytest.mark.torch
@pytest.mark.parametrize("half", [0, 1])
def test_labels_are_true(half: int, setting: Setting):
    pytest.importorskip("torch")
    own = PROGRAMS[half::2]
    found = running.measured([program.path for program in own], setting, ("eager", "aot_eager"))
    expected = {
        program.name: "; ".join(part for part in program.truth.split("; ") if not part.startswith("inductor "))
        for program in own
    }
    assert found == expected


@pytest.mark.parametrize("tool", ["nonstrict", "ruff"])
def test_the_column_is_what_the_tool_says_today(tool: str, setting: Setting):
    results = load()
    assert TOOLS[tool].version(setting) == results.versions[tool], "run `make comparison`"
    found = about_hazards(TOOLS[tool].findings(PATHS, setting), PROGRAMS)
    assert found == results.findings[tool], "run `make comparison`"


def test_the_labelled_cases_are_counted_as_today(setting: Setting):
    findings = TOOLS["nonstrict"].findings(cases.files(), setting)
    codes = frozenset(found.code for found in findings)
    assert list(cases.counted(findings, codes, frozenset())) == load().cases["nonstrict"]


def program(area: Area = Area.REGION, named: str = "NST701 graph-break", near: str = "T201") -> Program:
    return Program(Path("x.py"), "", area, frozenset({7}), frozenset(named.split()), frozenset(near.split()), "")


@pytest.mark.parametrize(
    ("reports", "mark"),
    [
        ([(7, "NST701"), (3, "graph-break")], Mark.LINE),
        ([(3, "graph-break"), (7, "T201")], Mark.ELSEWHERE),
        ([(None, "graph-break")], Mark.ELSEWHERE),
        ([(7, "T201"), (7, "E501")], Mark.OTHER),
        ([(3, "T201"), (7, "E501")], Mark.MISSED),
        ([(None, ONE_GRAPH)], Mark.ABSENT),
        ([], Mark.MISSED),
    ],
)
def test_a_tool_is_judged_by_its_best_report(reports: list[tuple[int | None, str]], mark: Mark):
    findings = [Finding("x", line, code, "") for line, code in reports]
    assert judged(program(), findings, frozenset({Area.REGION}))[0] is mark


def test_what_a_tool_is_not_for_is_no_miss():
    assert judged(program(Area.API), [], frozenset({Area.REGION}))[0] is Mark.OUTSIDE


def test_only_hazards_are_false_alarms():
    findings = [Finding("x", 3, code, "") for code in ("NST701", "T201", "E501")]
    assert alarms(program(), findings, hazard_codes([program()])) == ["NST701"]


def outcome(
    results: list[object] | None = None, error: str | None = None, printed: str = "", regions: int = 0
) -> Outcome:
    return Outcome(results, error, printed, regions, 0, 0, 0, ())


@pytest.mark.parametrize(
    ("compiled", "told"),
    [
        (outcome([1.00001], regions=1), "eager runs; aot_eager same; graphs 0, breaks 0, recompilations 0"),
        (outcome([1.1]), "eager runs; aot_eager wrong"),
        (outcome([1.0, 1.0]), "eager runs; aot_eager wrong"),
        (outcome([1.0], printed="x"), "eager runs; aot_eager effects lost"),
        (outcome(error="TypeError"), "eager runs; aot_eager error"),
    ],
)
def test_the_truth_is_what_differs_from_eager(compiled: Outcome, told: str):
    assert described({"eager": outcome([1.0]), "aot_eager": compiled}) == told


@pytest.mark.parametrize(
    "text",
    ['"""X.\n\narea: region\nnamed: NST701\n"""\n', '"""X.\n\narea: clean\n"""\nx = 1  # hazard\n'],
    ids=["no-line", "clean-with-line"],
)
def test_labels_that_are_not_complete_are_refused(text: str, tmp_path: Path):
    path = tmp_path / "x.py"
    path.write_text(text)
    with pytest.raises(ValueError, match="a hazard has a line"):
        read(path)
