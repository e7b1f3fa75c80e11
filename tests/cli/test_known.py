"""The baseline, as a whole process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import BAD, CLEAN

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

NAME = ".nonstrict-baseline.json"
LOOKED = "2 marked functions analyzed.\n"
KNOWN = ("No findings in 2 files (1 in the baseline).\n" + LOOKED, "")


@pytest.fixture
def baseline(nonstrict: Command, project: Path) -> Path:
    assert nonstrict("check", "--write-baseline", ".") == (0, f"Wrote 1 finding to {NAME}.\n", "")
    return project / NAME


def test_what_is_known_is_not_reported(nonstrict: Command, project: Path, baseline: Path):
    assert nonstrict("check") == (0, *KNOWN)
    assert nonstrict("check", "bad.py").status == 0
    assert nonstrict("check", "--isolated").status == 1
    (entry,) = json.loads(baseline.read_text())["findings"]
    assert (entry["path"], entry["code"], entry["function"]) == ("bad.py", "NST101", "scaled")


def test_the_cache_does_not_keep_what_was_known(nonstrict: Command, baseline: Path):
    assert nonstrict("check").status == 0
    baseline.unlink()
    run = nonstrict("check", "-v")
    assert run.status == 1
    assert "from the cache" in run.err


def test_findings_move_with_their_line(nonstrict: Command, project: Path, baseline: Path):
    (project / "bad.py").write_text("# more\n\n\n" + BAD)
    assert nonstrict("check") == (0, *KNOWN)
    (project / "bad.py").write_text(BAD.replace("x * SCALE", "x + SCALE"))
    assert nonstrict("check").status == 1


def test_one_more_of_the_same_is_new(nonstrict: Command, project: Path, baseline: Path):
    text = BAD.replace("return x * SCALE", "x = x * SCALE\n    return x")
    (project / "bad.py").write_text(text)
    nonstrict("check", "--write-baseline")
    (project / "bad.py").write_text(text.replace("    return", "    x = x * SCALE\n    return"))
    run = nonstrict("check", "--output-format", "concise", "--no-unsafe-fixes")
    assert run.out.startswith("bad.py:9:13: error")
    assert run.out.endswith("Found 1 error in 1 of 2 files (1 in the baseline).\n" + LOOKED)


def test_it_shrinks_by_itself(nonstrict: Command, project: Path, baseline: Path):
    (project / "bad.py").write_text(CLEAN)
    run = nonstrict("check")
    assert run == (
        0,
        "No findings in 2 files.\n" + LOOKED,
        f"nonstrict: 1 known finding gone, and taken out of {NAME}.\n",
    )
    assert json.loads(baseline.read_text())["findings"] == []


def test_it_is_locked_in_ci(nonstrict: Command, project: Path, baseline: Path):
    before = baseline.read_bytes()
    (project / "bad.py").write_text(CLEAN)
    run = nonstrict("check", CI="true")
    assert run.status == 0
    assert f"1 entry of {NAME} matches nothing any more" in run.err
    assert baseline.read_bytes() == before


@pytest.mark.parametrize("options", [["clean.py"], ["--ignore", "NST1"], ["--torch-version", "2.12"], ["--isolated"]])
def test_what_was_not_looked_at_stays(nonstrict: Command, project: Path, baseline: Path, options: list[str]):
    before = baseline.read_bytes()
    (project / "bad.py").write_text(CLEAN)
    assert nonstrict("check", *options).err == ""
    assert baseline.read_bytes() == before


def test_files_that_are_gone_leave_it(nonstrict: Command, project: Path, baseline: Path):
    (project / "bad.py").unlink()
    assert "1 known finding gone" in nonstrict("check", "clean.py").err


def test_a_part_can_be_written_anew(nonstrict: Command, project: Path, baseline: Path):
    (project / "more.py").write_text(BAD)
    assert nonstrict("check", "--write-baseline", "more.py").out == f"Wrote 2 findings to {NAME}.\n"
    assert nonstrict("check").status == 0


def test_another_name(nonstrict: Command, project: Path):
    (project / "sub").mkdir()
    assert nonstrict("check", "--write-baseline=sub/known.json").out == "Wrote 1 finding to sub/known.json.\n"
    assert nonstrict("check").status == 1
    assert nonstrict("check", "--baseline", "sub/known.json").status == 0
    (project / "nonstrict.toml").write_text("baseline = 'sub/known.json'\n")
    assert nonstrict("check").status == 0
    assert nonstrict("check", "--write-baseline").out == "Wrote 1 finding to sub/known.json.\n"
    (entry,) = json.loads((project / "sub" / "known.json").read_text())["findings"]
    assert entry["path"] == "../bad.py"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "does not exist. Write it, or take it out of the configuration"),
        ("{", "is not a baseline"),
        ("[]", "is not a baseline"),
        ('{"version": 1, "findings": [1]}', "is not a baseline"),
        ('{"version": 1, "findings": [{"path": 1}]}', "is not a baseline"),
        ('{"version": 9, "findings": []}', "written by a newer nonstrict"),
    ],
)
def test_files_that_are_no_baseline(nonstrict: Command, project: Path, text: str | None, message: str):
    if text is not None:
        (project / "known.json").write_text(text)
    run = nonstrict("check", "--baseline", "known.json")
    assert run.status == 2
    assert message in run.err


def test_syntax_errors_are_never_known(nonstrict: Command, project: Path):
    (project / "broken.py").write_text("nonstrict_trace\ndef f(:\n")
    assert nonstrict("check", "--write-baseline").out == f"Wrote 1 finding to {NAME}.\n"
    assert "NST901" in nonstrict("check").out


def test_what_is_known_is_not_fixed(nonstrict: Command, project: Path):
    from tests.cli.test_fix import DROPPED

    (project / "dropped.py").write_text(DROPPED)
    nonstrict("check", "--write-baseline")
    assert nonstrict("check", "--fix", "--unsafe-fixes").status == 0
    assert (project / "dropped.py").read_text() == DROPPED
    assert (project / "bad.py").read_text() == BAD


def test_findings_move_with_their_file(nonstrict: Command, project: Path, baseline: Path):
    (project / "package").mkdir()
    (project / "bad.py").rename(project / "package" / "worse.py")
    before = baseline.read_text()
    assert nonstrict("check", CI="true") == (0, *KNOWN)
    assert baseline.read_text() == before
    assert nonstrict("check") == (0, *KNOWN)
    (entry,) = json.loads(baseline.read_text())["findings"]
    assert entry["path"] == "package/worse.py"
    assert nonstrict("check") == (0, *KNOWN)


def test_a_copy_is_not_known(nonstrict: Command, project: Path, baseline: Path):
    (project / "twin.py").write_text(BAD)
    run = nonstrict("check")
    assert run.status == 1
    assert "twin.py:8:16" in run.out
    assert "bad.py" not in run.out
