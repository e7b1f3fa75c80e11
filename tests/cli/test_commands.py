"""The other commands, help, and what goes wrong before a command runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nonstrict import __version__
from nonstrict.cli import main as entry
from nonstrict.cli.main import COMMANDS, main
from nonstrict.confirm.compile_caches import name_of
from nonstrict.rules.registry import RULES
from nonstrict.settings.options import OPTIONS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


def test_version(nonstrict: Command):
    for arguments in (["version"], ["--version"], ["-V"]):
        assert nonstrict(*arguments) == (0, f"nonstrict {__version__}\n", "")
    assert json.loads(nonstrict("version", "--output-format", "json").out) == {"version": __version__}


def test_help(nonstrict: Command):
    assert all(f"\n  {name} " in nonstrict("--help").out for name in COMMANDS)
    assert nonstrict().out == nonstrict("--help").out
    for name in COMMANDS:
        run = nonstrict(name, "--help")
        assert run.status == 0
        assert f"usage: nonstrict {name}" in run.out


def test_an_unknown_command_is_said(nonstrict: Command):
    run = nonstrict("chekc")
    assert run.status == 2
    assert "chekc" in run.err


@pytest.mark.parametrize("name", ["NST101", "nst101", "global-tensor-capture"])
def test_a_rule_is_explained(nonstrict: Command, name: str):
    run = nonstrict("rule", name)
    assert run.status == 0
    assert run.out.startswith("# global-tensor-capture (NST101)\n")
    assert nonstrict("explain", name).out == run.out


def test_all_rules_are_listed(nonstrict: Command):
    assert [line.split()[0] for line in nonstrict("rule", "--all").out.splitlines()] == list(RULES)
    assert [rule["code"] for rule in json.loads(nonstrict("rule", "--all", "--output-format", "json").out)] == list(
        RULES
    )
    assert json.loads(nonstrict("rule", "NST101", "--output-format", "json").out)["name"] == "global-tensor-capture"


def test_a_rule_that_does_not_exist(nonstrict: Command):
    run = nonstrict("rule", "io-side-efect")
    assert run.status == 2
    assert "Did you mean `NST201`?" in run.err


def test_configuration_keys_are_explained(nonstrict: Command):
    assert [line.split()[0] for line in nonstrict("config").out.splitlines()] == list(OPTIONS)
    assert "Default: " in nonstrict("config", "select").out
    assert json.loads(nonstrict("config", "select", "--output-format", "json").out)[0]["key"] == "select"
    assert nonstrict("config", "selct").status == 2


def test_clean(nonstrict: Command, project: Path):
    nonstrict("check")
    assert (project / ".nonstrict_cache").exists()
    assert nonstrict("clean").status == 0
    assert not (project / ".nonstrict_cache").exists()
    assert nonstrict("clean").status == 0


def test_clean_removes_what_experiments_compiled(nonstrict: Command, project: Path, tmp_path: Path):
    projects = tmp_path / "caches" / "nonstrict" / "torch" / "deny" / "projects"
    for root in (project, tmp_path / "other"):
        (projects / name_of(str(root)) / "inductor").mkdir(parents=True)
    assert nonstrict("clean", XDG_CACHE_HOME=str(tmp_path / "caches")).status == 0
    assert [path.name for path in projects.iterdir()] == [name_of(str(tmp_path / "other"))]


def test_clean_removes_nothing_that_is_not_a_cache(nonstrict: Command, project: Path):
    assert nonstrict("clean", "--cache-dir", str(project)).status == 2
    assert (project / "bad.py").exists()


def test_a_bug_of_ours_is_said_to_be_one(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def broken(name: str) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(entry, "_module", broken)
    assert main(["check"]) == 2
    said = capsys.readouterr().err
    assert "internal error in nonstrict" in said
    assert "ZeroDivisionError at " in said
    assert "Traceback" not in said


def test_interruption(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "_module", interrupted)
    assert main(["check"]) == 130
    assert capsys.readouterr().err == "\nInterrupted.\n"
