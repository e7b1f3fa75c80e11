"""What cannot be meant is refused: one line before the usage, exit status 2, and nothing is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nonstrict.settings.globs import wrong_glob
from tests.cli.conftest import BAD

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--torch-version", "abc"], 'expected a version such as "2.13"'),
        (["--torch-version", "9.9"], "expected a version from 2.0 to"),
        (["--config", 'torch-version = "1.13"'], "expected a version from 2.0 to"),
        (["--python", "/nowhere"], "--python /nowhere: there is no such interpreter"),
        (["--python", "bad.py"], "--python bad.py: this is neither an interpreter nor an environment"),
        (["--python", "."], "--python .: this is neither an interpreter nor an environment"),
        (["--torch-version", ""], "--torch-version '': expected a version"),
        (["--stdin-filename", "a.py"], "Add the path `-`"),
        (["-", "--stdin-filename", ""], "--stdin-filename is empty"),
        ([""], "a path is empty"),
        (["--select", ""], "--select names no rule"),
        (["--ignore", ","], "--ignore names no rule"),
        (["--select", "NST101 NST201"], "with commas between them"),
        (["--select"], "--select takes a value."),
        (["--unsafe-fixes=1"], "--unsafe-fixes/--no-unsafe-fixes takes no value."),
        (["-q", "-v"], "-q/--quiet and -v/--verbose exclude each other. Drop one of them."),
        (["--config", ""], "--config takes a file or `KEY = VALUE`, not nothing."),
        (["--config", "."], "--config takes a file or `KEY = VALUE`, not the directory ."),
        (["--confirm", "--device", "tpu"], "Choose one of auto, cpu, cuda."),
        (["--line-length", "3"], "there is no option `--line-length`."),
        (["--write-repro", "repros"], "--write-repro is about experiments, and none are run. Add --confirm."),
        (["--device", "cpu"], "--device is about experiments"),
        (["--workers", "2"], "--workers is about experiments"),
        (["--cluster", "tcp://host:1"], "--cluster is about experiments"),
        (["--confirm", "--workers", "2", "--cluster", "tcp://host:1"], "--cluster and --workers exclude each other"),
        (["--confirm", "--cluster", ""], "--cluster takes the address of a Dask scheduler"),
        (["--confirm", "--torch-version", "2.9"], "the findings are for torch 2.9"),
        (["--write-baseline", "--add-ignore"], "exclude each other"),
        (["--write-baseline", "--fix"], "--write-baseline and --fix exclude each other"),
        (["--write-baseline=a.json", "--baseline", "b.json"], "exclude each other"),
        (["--add-ignore", "--fix-only"], "exclude each other"),
        (["--fix-only", "--confirm"], "exclude each other"),
        (["--exit-zero", "--exit-non-zero-on-fix"], "exclude each other"),
        (["--show-files", "--show-settings"], "exclude each other"),
        (["--exclude", "["], "the pattern `[` has a `[` without its `]`"),
        (["--config", "extend-exclude = ['a{b']"], "the pattern `a{b` has a `{` without its `}`"),
        (["--per-file-ignores", "x[:NST101"], "has a `[` without its `]`"),
        (["--statistics", "--output-format", "sarif"], "--statistics knows no format sarif"),
        (["--diff", "--output-format", "json"], "--diff reports no findings, and knows no format json"),
        (["--fix-only", "--output-format", "github"], "knows no format github"),
        (["--show-files", "--output-format", "json"], "knows no format json"),
        (["--diff", "-o", "out.txt"], "--diff reports no findings that --output-file could hold"),
        (["--silent", "-o", "out.txt"], "exclude each other"),
        (["-o", "bad.py", "bad.py"], "would overwrite a file that is checked"),
        (["-o", "."], "takes a file"),
        (["--cache-dir", "bad.py"], "--cache-dir takes a directory: bad.py is a file"),
        (["--cache-dir", ""], "--cache-dir takes a directory, not nothing"),
        (["--no-fix", "--fix-only"], "--no-fix and --fix-only exclude each other"),
        (["--show-settings", "gone"], "gone does not exist, and has no settings"),
        (["--confirm", "--write-repro", "bad.py"], "--write-repro takes a directory"),
        (["--write-baseline=none/known.json"], "there is no directory none"),
        (["--probe"], "--probe is about experiments, and none are run. Add --confirm."),
        (["--confirm", "--probe", "--fix"], "--probe and --fix exclude each other"),
        (["--confirm", "--timeout", "inf"], "not a number of seconds"),
        (["-j", "99999"], "not a number of processes"),
    ],
)
def test_a_check_that_cannot_be_meant(nonstrict: Command, project: Path, arguments: list[str], message: str):
    before = {path.name: path.read_bytes() for path in project.iterdir()}
    run = nonstrict("check", "--no-cache", *arguments)
    assert (run.status, run.out) == (2, "")
    assert message in run.err.split("\n", 1)[0]
    assert {path.name: path.read_bytes() for path in project.iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["chek", "bad.py"], "`chek` is not a value of COMMAND. Did you mean `check`?"),
        (["clean", "--cache-dir", ""], "--cache-dir takes a directory, not nothing"),
        (["confirm", "bad.py:attend"], "bad.py:attend: there is no such file. Did you mean `bad.py::attend`?"),
        (["bad.py"], "Did you mean `nonstrict check bad.py`?"),
        (["rule", "NST101", "NST102"], "`NST102` is one argument too many"),
        (["config", "selct"], "Did you mean `select`?"),
        (["clean", "nowhere"], "nowhere: does not exist"),
        (["audit", "bad.py::scaled", "--marker", "nonstrict-trace"], "Did you mean `nonstrict_trace`?"),
        (["confirm", "bad.py", "--show", "graph", "--write-repro", "repros"], "Drop one of them"),
        (["confirm", "bad.py", "--show", "graph", "--output-format", "json"], "knows no format json"),
        (["confirm", "bad.py", "--show", "graph", "--cluster", "tcp://host:1"], "--show runs one program here"),
        (["confirm", "bad.py", "--workers", "2", "--cluster", "tcp://host:1"], "exclude each other"),
        (["confirm", "bad.py::"], "names no function"),
        (["audit", "bad.py::scaled", "nowhere"], "nowhere: does not exist"),
        (["confirm", "bad.py", "-j", "-1"], "-j/--jobs: `-1` is not a number of processes."),
        (["audit"], "FILE::FUNCTION is missing."),
        (["rule", "NST1"], "There is no rule `NST1`. `nonstrict rule --all` lists the rules."),
        (["rule", "NST1010"], "Did you mean `NST101`?"),
        (["config", "nope"], "`nonstrict config` lists the keys."),
        (["help", "chek"], "Did you mean `check`?"),
        (["record", "--limit", "many", "--", "true"], "not a number of calls"),
        (["record", "--output", "bad.py", "--", "true"], "is a file"),
        (["server", "--stdoi"], "Did you mean `--stdio`?"),
        (["version", "--output-format", "yaml"], "`yaml` is not a value of --output-format"),
    ],
)
def test_a_command_that_cannot_be_meant(nonstrict: Command, project: Path, arguments: list[str], message: str):
    run = nonstrict(*arguments)
    assert (run.status, run.out) == (2, "")
    assert message in run.err.split("\n", 1)[0]


def test_the_environment_cannot_choose_a_format_that_does_not_exist(nonstrict: Command, project: Path):
    for arguments in (["check"], ["audit", "bad.py::scaled"]):
        run = nonstrict(*arguments, NONSTRICT_OUTPUT_FORMAT="yaml")
        assert run.status == 2
        assert "NONSTRICT_OUTPUT_FORMAT is `yaml`" in run.err


def test_codes_in_any_case(nonstrict: Command, project: Path):
    for arguments in (
        ["--select", "nst101"],
        ["--select", "Nst1"],
        ["--select", "all"],
        ["--config", "select=['nst1']"],
    ):
        assert "NST101" in nonstrict("check", *arguments).out
    assert "NST101" not in nonstrict("check", "--ignore", "nst101").out
    assert "NST101" not in nonstrict("check", "--per-file-ignores", "bad.py:nst101").out
    assert "note[NST101]" in nonstrict("check", "--config", "severity = { nst101 = 'note' }").out


@pytest.mark.parametrize(
    ("glob", "wrong"),
    [
        ("[a-z]*.py", False),
        ("[]]x", False),
        ("[!]]x", False),
        ("{a,b}/*.py", False),
        ("!tests/*", False),
        ("[", True),
        ("a[", True),
        ("[]", True),
        ("a}", True),
        ("{a", True),
        ("", True),
        ("/", True),
    ],
)
def test_globs(glob: str, *, wrong: bool):
    assert bool(wrong_glob(glob)) is wrong


def test_patterns_with_commas_in_braces(nonstrict: Command, project: Path):
    run = nonstrict("check", "--exclude", "{bad,other}.py,nothing", "--show-files")
    assert run.out == "clean.py\n"


@pytest.mark.skipif(sys.platform == "win32", reason="redirects by a shell of POSIX")
@pytest.mark.parametrize(
    ("redirected", "status"), [("check -q bad.py >&-", 1), ("check - <&-", 2), ("check bad.py >&- 2>&-", 1)]
)
def test_closed_streams(project: Path, redirected: str, status: int):
    run = subprocess.run(
        ["sh", "-c", f'"$0" -m nonstrict {redirected}', sys.executable],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ},
    )
    assert run.returncode == status
    assert "internal error" not in run.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_an_output_file_that_cannot_be_written_is_not_left(project: Path):
    limited = 'ulimit -f 0; "$0" -m nonstrict check --isolated --no-cache bad.py -o out.txt'
    run = subprocess.run(
        ["sh", "-c", limited, sys.executable], cwd=project, capture_output=True, text=True, check=False
    )
    assert (run.returncode, sorted(path.name for path in project.iterdir())) == (2, ["bad.py", "clean.py"])
    assert "out.txt" in run.stderr


def test_named_files_that_do_not_parse_are_told(nonstrict: Command, project: Path):
    (project / "broken.py").write_text("x = = 1\n", encoding="utf-8")
    assert "NST901" in nonstrict("check", "broken.py").out
    assert "NST901" in nonstrict("check", ".", "broken.py").out
    assert "broken.py" not in nonstrict("check", ".").out


@pytest.mark.parametrize("output_format", ["junit", "github", "azure", "sarif", "gitlab", "pylint", "rdjson"])
def test_reports_tell_of_what_could_not_be_read(nonstrict: Command, project: Path, output_format: str):
    run = nonstrict("check", "clean.py", "gone.py", "--output-format", output_format)
    assert run.status == 2
    if output_format in ("gitlab", "pylint", "rdjson"):
        assert "not checked: does not exist" in run.out
        assert "gone.py" in run.out
    else:
        assert "gone.py: does not exist" in run.out


@pytest.mark.parametrize("output_format", ["gitlab", "junit", "pylint", "rdjson", "sarif", "github", "azure"])
@pytest.mark.parametrize("indent", [None, 1])
def test_places_in_cells_are_those_of_the_file(
    nonstrict: Command, project: Path, output_format: str, indent: int | None
):
    cells = [{"cell_type": "code", "source": text.splitlines(keepends=True)} for text in ("x = 1\n", BAD)]
    text = json.dumps({"cells": cells, "nbformat": 4}, indent=indent)
    (project / "book.ipynb").write_text(text, encoding="utf-8")
    line = next(line for line in text.split("\n") if "return x * SCALE" in line)
    row, column = text.split("\n").index(line) + 1, line.index("    return x * SCALE") + 1
    run = nonstrict("check", "book.ipynb", "--select", "NST101", "--output-format", output_format)
    assert "cell 2:8:16" in run.out
    places = {
        "gitlab": f'"line": {row},\n          "column": {column}',
        "junit": f'line="{row}" column="{column}"',
        "pylint": f"book.ipynb:{row}:",
        "rdjson": f'"line": {row},\n            "column": {column}',
        "sarif": f'"startLine": {row},\n                  "startColumn": {column}',
        "github": f"line={row},col={column},",
        "azure": f"linenumber={row};columnnumber={column};",
    }
    assert places[output_format] in run.out


def test_help_is_a_word_too(nonstrict: Command):
    assert nonstrict("help", "check").out == nonstrict("check", "--help").out
    assert nonstrict("help").out == nonstrict("--help").out
