"""`nonstrict check`, as a whole process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import BAD, CLEAN, Command


def test_findings_and_status(nonstrict: Command, project: Path):
    run = nonstrict("check")
    assert run.status == 1
    assert "bad.py:8:16" in run.out
    assert "error[NST101]" in run.out
    assert "\nFound 1 error in 1 of 2 files.\n" in run.out
    assert run.err == ""


def test_nothing_found(nonstrict: Command, project: Path):
    run = nonstrict("check", "clean.py")
    assert (run.status, run.out, run.err) == (0, "No findings in 1 file.\n1 marked function analyzed.\n", "")


def test_json_as_the_score_program_reads_it(nonstrict: Command, project: Path):
    run = nonstrict("check", "--output-format", "json", "--no-cache", "--isolated", str(project))
    (finding,) = json.loads(run.out)
    assert (finding["code"], finding["severity"], finding["location"]["row"]) == ("NST101", "error", 8)
    assert Path(finding["filename"]) == project / "bad.py"
    assert not (project / ".nonstrict_cache").exists()


def test_the_second_run_is_answered_from_the_cache(nonstrict: Command, project: Path):
    first = nonstrict("check", "-v")
    second = nonstrict("check", "-v")
    assert "from the cache" not in first.err
    assert "from the cache" in second.err
    assert second.out == first.out
    (project / "bad.py").write_text(CLEAN)
    assert nonstrict("check").status == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--exit-zero"], 0),
        (["-e"], 0),
        (["--ignore", "NST101"], 0),
        (["--select", "NST2,NST3"], 0),
        (["--select", "global-tensor-capture"], 1),
        (["--per-file-ignores", "bad.py:NST1"], 0),
        (["--exclude", "bad.py"], 0),
        (["--extend-exclude", "b*.py"], 0),
        (["--config", "severity = { NST101 = 'warning' }", "--fail-on", "error"], 0),
        (["--config", "severity = { NST101 = 'note' }"], 0),
        (["--config", "severity = { NST101 = 'note' }", "--fail-on", "note"], 1),
        (["--torch-version", "2.12"], 1),
        (["-j", "2"], 1),
    ],
)
def test_options_decide_the_status(nonstrict: Command, project: Path, arguments: list[str], status: int):
    assert nonstrict("check", *arguments).status == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["gone.py"], "gone.py: does not exist"),
        (["--select", "NST999"], "no rule is called `NST999`"),
        (["--select", "io-side-efect"], "Write `io-side-effect`."),
        (["--config", "gone.toml"], "does not exist"),
        (["--config", "selct = []"], "Write `select`."),
        (["--output-format", "yaml"], "`yaml` is not a value of --output-format"),
        (["--output-format", "ful"], "Did you mean `full`?"),
        (["--nonsense"], "there is no option `--nonsense`."),
        (["--selct", "NST101"], "Did you mean `--select`?"),
        (["--per-file-ignores", "x"], "PATTERN:RULE"),
        (["-j", "many"], "not a number"),
        (["--isolated", "--config", "nonstrict.toml"], "exclude each other"),
        (["-o", "no/such/directory/out.txt"], "no/such/directory/out.txt"),
    ],
)
def test_mistakes_are_said_and_exit_with_2(nonstrict: Command, project: Path, arguments: list[str], message: str):
    run = nonstrict("check", *arguments)
    assert run.status == 2
    assert message in run.err


def test_what_can_be_checked_is_checked_beside_a_failure(nonstrict: Command, project: Path):
    (project / "binary.py").write_bytes(bytes(range(256)) * 10)
    run = nonstrict("check", "bad.py", "binary.py", "--output-format", "concise")
    assert run.status == 2
    assert "bad.py:8:16: error[NST101]" in run.out
    assert "binary.py" in run.err


def test_configuration_files_count_unless_isolated(nonstrict: Command, project: Path):
    (project / "pyproject.toml").write_text("[tool.nonstrict]\nignore = ['NST101']\n")
    assert nonstrict("check").status == 0
    assert nonstrict("check", "--isolated").status == 1
    assert nonstrict("check", "--select", "ALL").status == 1


def test_configuration_of_a_directory_below_counts_there(nonstrict: Command, project: Path):
    (project / "sub").mkdir()
    (project / "sub" / "bad.py").write_text(BAD)
    (project / "sub" / "nonstrict.toml").write_text("ignore = ['NST101']\n")
    run = nonstrict("check", "--output-format", "concise")
    assert "sub" not in run.out
    assert nonstrict("check", "sub").status == 0
    assert nonstrict("check", "sub", "--config", "select = ['NST1']", "--config", "ignore = []").status == 1


def test_a_wrong_configuration_is_a_finding_on_its_line(nonstrict: Command, project: Path):
    (project / "nonstrict.toml").write_text("\nselect = ['NST1']\nignor = []\n")
    run = nonstrict("check")
    assert run.status == 2
    assert "nonstrict.toml:3:1" in run.out
    assert "help: write `ignore`" in run.out
    (finding,) = json.loads(nonstrict("check", "--output-format", "json").out)
    assert (finding["code"], finding["location"]["row"]) == ("NST903", 3)
    (project / "nonstrict.toml").write_text("[[[")
    assert "not valid TOML" in nonstrict("check").out
    (project / "nonstrict.toml").write_text("select = ['NST999']\n")
    assert "nonstrict.toml:1:11" in nonstrict("check").out


def test_standard_input(nonstrict: Command, project: Path):
    run = nonstrict("check", "-", "--output-format", "concise", stdin=BAD)
    assert run.status == 1
    assert run.out.startswith("-:8:16: error[NST101]")
    run = nonstrict("check", "-", "--stdin-filename", "clean.py", "--output-format", "concise", stdin=BAD)
    assert run.out.startswith("clean.py:8:16: error[NST101]")
    assert nonstrict("check", "-", stdin=b"").status == 0


def test_output_file(nonstrict: Command, project: Path):
    run = nonstrict("check", "-o", "out.json", "--output-format", "json", "--color", "always")
    assert (run.status, run.out) == (1, "")
    assert json.loads((project / "out.json").read_text())[0]["code"] == "NST101"


def test_volume(nonstrict: Command, project: Path):
    assert "Found" not in nonstrict("check", "-q").out
    assert nonstrict("check", "-s") == (1, "", "")
    assert "torch:" in nonstrict("check", "-v").err
    assert nonstrict("check", "-s", "gone.py").err


def test_colour(nonstrict: Command, project: Path):
    assert "\x1b[" not in nonstrict("check").out
    assert "\x1b[" in nonstrict("check", "--color", "always").out
    assert "\x1b[" in nonstrict("check", FORCE_COLOR="1").out
    assert "\x1b[" not in nonstrict("check", FORCE_COLOR="1", NO_COLOR="1").out


def test_the_environment_chooses_the_format(nonstrict: Command, project: Path):
    assert nonstrict("check", NONSTRICT_OUTPUT_FORMAT="github").out.startswith("::error ")
    assert nonstrict("check", NONSTRICT_OUTPUT_FORMAT="prose").status == 2
    both = nonstrict("check", GITHUB_ACTIONS="true").out
    assert "error[NST101]" in both
    assert "::error title=nonstrict (NST101),file=bad.py,line=8,col=16" in both


def test_statistics_files_and_settings(nonstrict: Command, project: Path):
    assert nonstrict("check", "--statistics").out.startswith("1  NST101  error ")
    assert nonstrict("check", "--show-files").out == "bad.py\nclean.py\n"
    shown = nonstrict("check", "--show-settings", "--select", "NST1").out
    assert 'select = ["NST1"]' in shown
    assert 'fail-on = "warning"' in shown


def test_a_reader_that_goes_away(project: Path):
    command = f"{sys.executable} -m nonstrict check --output-format json | head -c 1"
    run = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, check=False, timeout=60)
    assert (run.stdout, run.stderr) == ("[", "")


def test_output_that_the_terminal_cannot_encode(nonstrict: Command, project: Path):
    (project / "bad.py").write_text(BAD.replace("SCALE", "MAßSTAB"), encoding="utf-8")
    run = nonstrict("check", PYTHONIOENCODING="ascii")
    assert run.status == 1
    assert "MA\\xdfSTAB" in run.out


@pytest.mark.skipif(os.name == "nt", reason="bytes that are no text make no file name there")
def test_a_file_name_that_is_no_text(nonstrict: Command, project: Path):
    (Path(os.fsdecode(os.fsencode(project) + b"/\xff.py"))).write_text(BAD)
    for name in ("full", "json", "sarif", "junit"):
        assert nonstrict("check", "--output-format", name).status == 1
