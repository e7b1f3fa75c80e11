"""Options as ruff has them: what goes on top of the configuration, what is shown of what is hidden."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.cli.conftest import BAD

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command, Outcome

#: `NST603`, whose fix is safe.
DROPPED = """\
import torch


def scale(x):
    return x * 2


torch.compiler.disable
torch._dynamo.nonstrict_trace(scale)
"""
#: A note: other shapes compile anew.
NOTED = """\
import torch


@torch._dynamo.nonstrict_trace
def halves(x):
    if x.shape[0] > 8:
        return x * 0.5
    return x
"""


def codes(outcome: Outcome) -> list[str]:
    return [one["code"] for one in json.loads(outcome.out)]


def found(nonstrict: Command, *arguments: str) -> list[str]:
    return codes(nonstrict("check", "--output-format", "json", *arguments))


@pytest.mark.parametrize(
    ("configured", "options", "expected"),
    [
        ('ignore = ["NST101"]', (), []),
        ('ignore = ["NST101"]', ("--extend-select", "NST1"), ["NST101"]),
        ('select = ["NST101"]', ("--ignore", "NST1"), []),
        ('select = ["NST1"]\nignore = ["NST101"]', ("--select", "ALL"), ["NST101"]),
        ("", ("--select", "NST101", "--ignore", "NST1"), ["NST101"]),
        ("", ("--select", "NST1", "--ignore", "NST101"), []),
    ],
)
def test_what_the_command_line_says_of_rules_wins(
    project: Path, nonstrict: Command, configured: str, options: tuple[str, ...], expected: list[str]
):
    (project / "nonstrict.toml").write_text(configured, encoding="utf-8")
    assert found(nonstrict, *options) == expected


@pytest.mark.parametrize(
    ("configured", "options", "fixable"),
    [
        ("", (), True),
        ('fixable = ["NST1"]', (), False),
        ('fixable = ["NST1"]\nextend-fixable = ["NST603"]', (), True),
        ('extend-fixable = ["NST6"]\nunfixable = ["NST603"]', (), False),
        ('fixable = ["NST1"]', ("--extend-fixable", "NST603"), True),
        ('unfixable = ["NST603"]', ("--extend-fixable", "NST6"), True),
        ('unfixable = ["NST603"]', ("--fixable", "NST1", "--extend-fixable", "discarded-marker"), True),
        ("", ("--fixable", "NST1"), False),
        ("", ("--extend-fixable", "NST6", "--unfixable", "NST603"), False),
    ],
)
def test_which_fixes_are_offered(
    tmp_path: Path, nonstrict: Command, configured: str, options: tuple[str, ...], fixable: bool
):
    (tmp_path / "a.py").write_text(DROPPED, encoding="utf-8")
    (tmp_path / "nonstrict.toml").write_text(configured, encoding="utf-8")
    told = json.loads(nonstrict("check", "--output-format", "json", "--select", "NST603", *options).out)
    assert [one["fix"] is not None for one in told] == [fixable]


def test_ignores_of_files_are_replaced_or_extended(project: Path, nonstrict: Command):
    (project / "nonstrict.toml").write_text('per-file-ignores = { "bad.py" = ["NST101"] }', encoding="utf-8")
    (project / "worse.py").write_text(BAD, encoding="utf-8")
    assert found(nonstrict) == ["NST101"]
    assert found(nonstrict, "--extend-per-file-ignores", "worse.py:NST1") == []
    assert found(nonstrict, "--per-file-ignores", "clean.py:NST1") == ["NST101", "NST101"]
    both = ("--per-file-ignores", "bad.py:NST1", "--extend-per-file-ignores", "worse.py:NST101")
    assert found(nonstrict, *both) == []


def test_ignores_of_files_that_an_extended_file_makes(project: Path, nonstrict: Command):
    (project / "base.toml").write_text('extend-per-file-ignores = { "bad.py" = ["NST101"] }', encoding="utf-8")
    inner = project / "nonstrict.toml"
    inner.write_text('extend = "base.toml"\nextend-per-file-ignores = { "clean.py" = ["NST1"] }', encoding="utf-8")
    assert found(nonstrict) == []
    (project / "base.toml").write_text('per-file-ignores = { "bad.py" = ["NST101"] }', encoding="utf-8")
    assert found(nonstrict) == []
    inner.write_text('extend = "base.toml"\nper-file-ignores = { "clean.py" = ["NST1"] }', encoding="utf-8")
    assert found(nonstrict) == ["NST101"]


SUPPRESSED = BAD.replace("x * SCALE", "x * SCALE  # nonstrict: ignore[NST101]  known")


def test_what_comments_suppress_is_reported_when_asked(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text(SUPPRESSED, encoding="utf-8")
    (tmp_path / "b.py").write_text("# nonstrict: file-ignore\n" + BAD, encoding="utf-8")
    (tmp_path / "c.py").write_text(f"{BAD}\nX = 1  # nonstrict: ignore[NST204]\n", encoding="utf-8")
    assert found(nonstrict) == ["NST101", "NST902"]
    # A suppression that is not looked at is not told to be unused either.
    assert found(nonstrict, "--ignore-suppressions") == ["NST101"] * 3


def test_the_cache_knows_suppressions_apart(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text(SUPPRESSED, encoding="utf-8")
    assert [found(nonstrict), found(nonstrict, "--ignore-suppressions"), found(nonstrict)] == [[], ["NST101"], []]


def test_a_baseline_does_not_shrink_by_what_is_not_looked_at(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text("X = 1  # nonstrict: ignore[NST204]\n" + BAD, encoding="utf-8")
    nonstrict("check", "--write-baseline")
    before = (tmp_path / ".nonstrict-baseline.json").read_bytes()
    assert nonstrict("check", "--ignore-suppressions").status == 0
    assert (tmp_path / ".nonstrict-baseline.json").read_bytes() == before


def test_notes_are_left_out_and_counted(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text(NOTED + BAD.replace("import torch\n", ""), encoding="utf-8")
    everything = nonstrict("check", "--output-format", "concise")
    assert "note[" in everything.out
    left = nonstrict("check", "--output-format", "concise", "--no-notes")
    assert "note[" not in left.out
    assert "Found 1 error in 1 of 1 file (1 note left out).\n" in left.out
    assert codes(nonstrict("check", "--output-format", "json", "--no-notes")) == ["NST101"]
    assert "note" not in nonstrict("check", "--statistics", "--no-notes").out.replace("1 note left out", "")


def test_notes_alone_leave_no_findings(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text(NOTED, encoding="utf-8")
    outcome = nonstrict("check", "--no-notes")
    assert outcome.status == 0
    assert outcome.out.startswith("No findings in 1 file (1 note left out).\n")
    # Quiet runs count nothing.
    assert nonstrict("check", "--no-notes", "-q").out == ""


def test_notes_stay_in_the_baseline(tmp_path: Path, nonstrict: Command):
    (tmp_path / "a.py").write_text(NOTED, encoding="utf-8")
    nonstrict("check", "--write-baseline")
    before = (tmp_path / ".nonstrict-baseline.json").read_bytes()
    nonstrict("check", "--no-notes")
    assert (tmp_path / ".nonstrict-baseline.json").read_bytes() == before


@pytest.mark.parametrize(
    ("configured", "options", "message"),
    [
        ("", ("--no-notes", "--fail-on", "note"), "--no-notes leaves out what a run fails for"),
        ('fail-on = "note"', ("--no-notes",), "--no-notes leaves out what a run fails for"),
        ("", ("--no-notes", "--write-baseline"), "--no-notes and --write-baseline exclude each other"),
        ("", ("--ignore-suppressions", "--add-ignore"), "--ignore-suppressions and --add-ignore exclude each other"),
        ("", ("--extend-fixable", ","), "--extend-fixable names no rule"),
        ("", ("--extend-fixable", "NST999"), "no rule is called `NST999`"),
        ("", ("--extend-per-file-ignores", "x"), "--extend-per-file-ignores takes `PATTERN:RULE`, not `x`"),
        ("", ("--target-python", "3"), '--target-python 3: expected a version of Python from "3.8" to "3.14"'),
        ("", ("--target-python", ""), "--target-python '': expected a version of Python"),
        ("", ("--target-python", "2.7"), "expected a version of Python"),
        ("", ("--target-python", "3.10.4"), "expected a version of Python"),
        ('target-python = "py310"', (), "bad value for `target-python`: expected a version of Python"),
        ("target-python = 3.10", (), "bad value for `target-python`: expected a string"),
    ],
)
def test_what_cannot_be_meant_is_refused(
    project: Path, nonstrict: Command, configured: str, options: tuple[str, ...], message: str
):
    (project / "nonstrict.toml").write_text(configured, encoding="utf-8")
    outcome = nonstrict("check", *options)
    assert outcome.status == 2
    assert message in outcome.err + outcome.out


VERSIONED = """\
import random
import sys

import torch


@torch._dynamo.nonstrict_trace
def drawn(x):
    if sys.version_info >= (3, 10):
        return x
    return x * random.random()
"""


@pytest.mark.parametrize("command", ["check", "audit"])
def test_the_target_python_decides_conditions(tmp_path: Path, nonstrict: Command, command: str):
    (tmp_path / "a.py").write_text(VERSIONED, encoding="utf-8")
    what = (command,) if command == "check" else (command, "a.py::drawn")
    assert "NST301" in nonstrict(*what, "--target-python", "3.9").out
    assert "NST301" not in nonstrict(*what, "--target-python", "3.10").out
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.10"\n', encoding="utf-8")
    assert "NST301" not in nonstrict(*what).out
    assert "NST301" in nonstrict(*what, "--target-python", "3.9").out
    (tmp_path / "pyproject.toml").write_text('[project]\nrequires-python = ">=3.9"\n', encoding="utf-8")
    assert "NST301" in nonstrict(*what).out
    (tmp_path / "nonstrict.toml").write_text('target-python = "3.11"', encoding="utf-8")
    assert "NST301" not in nonstrict(*what).out


def test_settings_that_count_are_shown(project: Path, nonstrict: Command):
    (project / "pyproject.toml").write_text(
        '[project]\nrequires-python = ">=3.9,!=3.9.0"\n[tool.nonstrict]\nunfixable = ["NST1"]\n', encoding="utf-8"
    )
    shown = nonstrict("check", "--show-settings", "--unfixable", "NST2", "--extend-fixable", "NST101").out
    assert 'target-python = "3.9"\n' in shown
    assert 'unfixable = ["NST1", "NST2"]\n' in shown
    assert 'extend-fixable = ["NST101"]\n' in shown


def test_a_project_for_another_version_is_not_checked(project: Path, nonstrict: Command):
    text = 'required-version = ">=99"\nfrom-the-future = true\nselect = 7\n'
    (project / "nonstrict.toml").write_text(text, encoding="utf-8")
    outcome = nonstrict("check", "--output-format", "concise")
    assert outcome.status == 2
    assert "nonstrict.toml:1:1: error[NST903] this is nonstrict" in outcome.out
    assert "`required-version` asks for `>=99`" in outcome.out
    assert "from-the-future" not in outcome.out
    for command in (("regions",), ("audit", "bad.py::scaled")):
        assert "asks for `>=99`" in nonstrict(*command).err
    assert nonstrict("check", "--isolated").status == 1
