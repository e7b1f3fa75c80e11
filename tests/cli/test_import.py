"""`nonstrict import` as users run it, on logs of a run that took place elsewhere, and what `check` makes of them."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.confirm.runs.logs import MODEL, Log, log_of_model

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

APPLIED = """\
import torch


def kernel(x):
    return torch.tanh(x)


def run(x, dynamic):
    return torch.compile(kernel, dynamic=dynamic)(x)


for flag in (True, False):
    run(torch.rand(3), flag)
"""
JOB = "/scratch/job/model.py"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "nonstrict.toml").write_text("")
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    log_of_model(tmp_path / "traces", JOB)
    return path


def imported(nonstrict: Command) -> str:
    run = nonstrict("import", "traces", "--map", "/scratch/job=.")
    assert run.status == 0, run.err
    return run.err


def checked(nonstrict: Command) -> list[dict[str, Any]]:
    return json.loads(nonstrict("check", "--output-format", "json").out)


def sightings(nonstrict: Command) -> dict[tuple[str, int], dict[str, Any] | None]:
    return {(one["code"], one["location"]["row"]): one["sighting"] for one in checked(nonstrict)}


def test_what_a_run_did_stands_beside_what_is_foretold(nonstrict: Command, model: Path):
    assert imported(nonstrict) == (
        "Kept 3 compiled functions, 2 breaks, 3 recompilations; `nonstrict check` shows them.\n"
    )
    found = sightings(nonstrict)
    assert found["NST701", 6] == {
        "when": "1970-01-01T00:16:44Z",
        "happened": True,
        "recompilations": 0,
        "seconds": 0.0,
        "gave_up": True,
        "reason": "Unsupported Tensor.item() call with capture_scalar_outputs=False (GB0124)",
        "stale": False,
    }
    passed = found["NST701", 18]
    assert passed is not None
    assert (passed["happened"], passed["reason"]) == (False, None)


def test_other_options_are_laid_at_their_application(nonstrict: Command, tmp_path: Path):
    (tmp_path / "model.py").write_text(APPLIED)
    log = Log(tmp_path / "traces")
    for number in range(2):
        reason = "0/0: BACKEND_MATCH failure: torch.compile detected different backend callables." if number else None
        log.started(f"0/{number}", str(tmp_path / "model.py"), 4, "kernel")
        log.done(f"0/{number}", "kernel", recompile_reason=reason)
    nonstrict("import", "traces")
    assert {place: found is not None for place, found in sightings(nonstrict).items()} == {("NST804", 9): True}


NUMBERS = """\
import torch


@torch.compile
def scaled(n):
    return n * 2


@torch.compile
def counted(n):
    return n + 1


scaled(2)
counted(3)
"""


def test_that_nothing_was_compiled_is_told(nonstrict: Command, tmp_path: Path):
    path = tmp_path / "model.py"
    path.write_text(NUMBERS)
    log = Log(tmp_path / "traces")
    for number, (name, operators) in enumerate([("scaled", None), ("counted", 1)]):
        log.started(f"{number}/0", str(path), 4 + 5 * number, name)
        log.done(f"{number}/0", name, graph_op_count=operators)
    nonstrict("import", "traces")
    found = sightings(nonstrict)
    assert set(found) == {("NST801", 4), ("NST801", 9)}
    told = found["NST801", 4]
    assert told is not None
    assert (told["happened"], told["reason"]) == (True, "no graph was made")
    assert found["NST801", 9] is None


def test_what_no_rule_names_is_a_note_of_its_own(nonstrict: Command, model: Path):
    before = {(one["code"], one["location"]["row"]) for one in checked(nonstrict)}
    imported(nonstrict)
    new = [one for one in checked(nonstrict) if (one["code"], one["location"]["row"]) not in before]
    assert [(one["code"], one["location"]["row"], one["severity"], one["observed"]) for one in new] == [
        ("NST804", 12, "note", True),
        ("NST701", 13, "note", True),
    ]
    again, broken = new
    assert (again["message"], again["note"]) == ("torch compiled `unforetold` again", "a guard failed: n == 3")
    assert (again["sighting"]["recompilations"], again["sighting"]["seconds"]) == (3, 13.5)
    assert broken["note"].startswith("Unsupported Tensor.item() call")
    assert broken["help"].startswith("Set `torch._dynamo.config.capture_scalar_outputs = True`")


def test_notes_of_runs_are_suppressed_and_selected_as_findings_are(nonstrict: Command, model: Path):
    imported(nonstrict)
    assert ("NST804", 12) not in {
        (one["code"], one["location"]["row"])
        for one in json.loads(nonstrict("check", "--output-format", "json", "--ignore", "NST804").out)
    }
    model.write_text(MODEL.replace("y = x * n", "y = x * n  # nonstrict: ignore[NST804]"))
    assert ("NST804", 12) not in sightings(nonstrict)


@pytest.mark.parametrize(
    ("output_format", "pattern"),
    [
        ("full", r"= note: observed \d+ d ago: Unsupported Tensor.item\(\) call .*; the function fell back to eager"),
        ("full", r"= note: observed \d+ d ago, 3 recompilations, 14 s\n"),
        ("full", r"= note: not observed: a run \d+ d ago compiled `calm`, and torch did not do this"),
        ("concise", r"model.py:6:5: .* \[observed\]\n"),
        ("concise", r"model.py:18:5: .* \[not observed\]\n"),
        ("github", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("gitlab", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("sarif", r'"sighting": \{'),
        ("sarif", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("junit", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("azure", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("rdjson", r"observed \d+ d ago, 3 recompilations, 14 s"),
        ("pylint", r"\[observed\]"),
        ("grouped", r"\[observed\]"),
        ("html", r"observed of \d{4}-\d\d-\d\d \d\d:\d\d UTC, 3 recompilations, 14 s"),
        ("agent", r"\nrun: observed of \d{4}-\d\d-\d\d \d\d:\d\d UTC, 3 recompilations, 14 s\n"),
    ],
)
def test_every_format_tells_it(nonstrict: Command, model: Path, output_format: str, pattern: str):
    imported(nonstrict)
    assert re.search(pattern, nonstrict("check", "--output-format", output_format).out)


def test_after_an_edit_it_is_old_and_then_gone(nonstrict: Command, model: Path):
    imported(nonstrict)
    model.write_text("import os\n" + MODEL)
    found = sightings(nonstrict)["NST701", 7]
    assert found is not None
    assert not found["stale"]
    (record,) = (model.parent / ".nonstrict" / "runs").iterdir()
    document = json.loads(record.read_text())
    model.write_text(MODEL.replace("    print(x)\n    return x\n", "    print(x)\n    return x + 1\n", 1))
    assert sightings(nonstrict)["NST701", 6] is None  # longer ago than a week
    record.write_text(json.dumps({**document, "when": 4e9}))
    found = sightings(nonstrict)["NST701", 6]
    assert found is not None
    assert found["stale"]
    text = nonstrict("check", "--color", "always").out
    assert re.search(r"\x1b\[2mobserved just now, before the code was edited: ", text)


def test_regions_say_what_became_of_them(nonstrict: Command, model: Path):
    imported(nonstrict)
    told = nonstrict("regions").out
    assert re.search(
        r"in a run \d+ d ago: no graph, 1 break, compiled in 0.5 s, falls back to eager: graph break in", told
    )
    assert re.search(r"in a run \d+ d ago: 1 graph, 1 break, 3 recompilations, compiled in 14 s\n", told)
    regions = json.loads(nonstrict("regions", "--output-format", "json").out)
    (one,) = [region["observed"] for region in regions if region["function"] == "unforetold"]
    assert one["recompilations"] == [{"row": 12, "times": 3, "guard": "n == 3", "gave_up": False}]
    assert (one["graphs"], one["later_graphs"], one["seconds"]) == ([{"operators": 4}], 3, 14.0)
    model.write_text(MODEL.replace("y = x * n", "y = x * n * 2"))
    assert re.search(r"unforetold\n +1 graph\n +called", nonstrict("regions").out)


def test_findings_of_the_baseline_are_not_told_again(nonstrict: Command, model: Path):
    nonstrict("check", "--write-baseline")
    imported(nonstrict)
    assert set(sightings(nonstrict)) == {("NST804", 12), ("NST701", 13)}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["traces"], "Try `--map /scratch/job=.`."),
        (["nowhere"], "nowhere does not exist."),
        (["model.py"], "model.py is not a log of TORCH_TRACE."),
    ],
)
def test_where_nothing_is_kept_it_says_why(nonstrict: Command, model: Path, arguments: list[str], complaint: str):
    run = nonstrict("import", *arguments)
    assert run.status == 2
    assert complaint in run.err
    assert not (model.parent / ".nonstrict").exists()


def test_a_mapping_has_two_sides(nonstrict: Command, model: Path):
    assert "`/scratch` is not OLD=NEW" in nonstrict("import", "traces", "--map", "/scratch").err


def test_damaged_logs_and_other_code_are_told(nonstrict: Command, model: Path):
    (log,) = (model.parent / "traces").iterdir()
    log.write_text("half a li\n" + log.read_text())
    model.write_text(MODEL.replace("return y.cos()", "return y.sin()"))
    told = imported(nonstrict)
    assert "1 line of the logs is damaged and was passed over." in told
    assert "Other code ran than is here now, and what it did is left out: model.py:13." in told


def test_a_fault_in_what_is_kept_loses_no_finding(nonstrict: Command, model: Path):
    imported(nonstrict)
    (record,) = (model.parent / ".nonstrict" / "runs").iterdir()
    record.write_text("{")
    assert [one["sighting"] for one in checked(nonstrict)] == [None, None]
