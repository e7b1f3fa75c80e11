"""What is said of a release that does not run where it is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from scripts import release as script
from scripts.releasing import installed
from tests.release.conftest import ROOT, Release

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    return tmp_path


def test_a_command_that_runs(folder: Path):
    paths = [str(ROOT / "analysis"), str(ROOT / "server")]
    run = f"import sys; sys.path[:0] = {paths}; from nonstrict.cli.main import command; command()"
    command = [sys.executable, "-c", run]
    assert list(installed._of_command(command, "it", ROOT, __version__, folder)) == []


def test_a_command_that_does_not_run_is_told(folder: Path):
    found = list(installed._of_command([sys.executable, "-c", "raise SystemExit(3)"], "it", ROOT, "1.2", folder))
    assert found[0] == "it: `version` says ''"
    assert "it: `nonstrict rule NST101` ends with 3: " in found
    assert found[-1].startswith("it: it finds in the examples what the tree does not")


def test_nothing_but_the_command_is_in_the_path(tmp_path: Path):
    asked = "import shutil; print(shutil.which('cc'), shutil.which('gcc'))"
    ran = installed._run([sys.executable, "-c", asked], tmp_path, tmp_path)
    assert ran.out == "None None\n"


def test_what_cannot_be_installed_is_told(release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    (mistake,) = installed.mistakes(release.wheel, release.vsix, ROOT, __version__, tmp_path)
    assert "cannot be installed" in mistake


def test_the_command_that_makes_a_release_says_what_is_wrong(capsys: pytest.CaptureFixture[str]):
    assert script.main(["--versions", "--rehearsal"]) == 0
    assert capsys.readouterr().out == f"nonstrict {__version__} is fit to be released.\n"
    assert script.main(["--versions", "--rehearsal", "--tag", "v99"]) == 1
    assert capsys.readouterr().err.startswith("release: the tag is v99")


def test_the_makefile_releases():
    command = ["make", "-n", "release", "ARGS=--rehearsal"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "scripts/release.py --rehearsal" in told.stdout
