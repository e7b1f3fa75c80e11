"""One fault costs one thing, around the analysis as a whole: options, settings, the selection of rules, the report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check import analysis, run
from nonstrict.check.selection import Selection
from nonstrict.cli import check as check_command
from nonstrict.cli import check_arguments
from nonstrict.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = """import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def first(x):
    print(x)
    return x + W
"""
Run = tuple[int, list[str], str]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    (tmp_path / "nonstrict.toml").write_text('ignore = ["NST201"]\n')
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., Run]:
    """Checks with a report in JSON: (status, codes, standard error)."""

    def check(*arguments: str) -> Run:
        status = main(["check", "-n", "--output-format", "json", *arguments])
        told = capsys.readouterr()
        return status, sorted(one["code"] for one in json.loads(told.out)), told.err

    return check


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError("who knows")


PLACES = [
    (check_command, "main_settings", "the configuration was not read, so the defaults apply", ["NST101", "NST201"]),
    (Selection, "__init__", "the selection of rules, all of which are reported, was not read", ["NST101", "NST201"]),
    (Selection, "enabled", "whether NST101 is reported was not decided", ["NST101", "NST201"]),
    (run, "discover", "nothing was checked", []),
    (analysis, "marked_files", "nothing was checked", []),
    (check_command, "overridden", "nothing was checked", []),
    (check_command, "refuse_misuse", "nothing was checked", []),
    (check_command, "reported", "the run was not finished", ["NST101"]),
]


@pytest.mark.parametrize(("place", "name", "sentence", "left"), PLACES)
def test_what_can_go_on_goes_on(
    check: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, sentence: str, left: list[str]
) -> None:
    assert check(".")[:2] == (1, ["NST101"])
    monkeypatch.setattr(place, name, fail)
    status, found, err = check(".")
    assert status == 2
    assert [code for code in found if code != "NST904"] == left
    assert "NST904" in found
    assert f"{sentence}: KeyError at " in err
    assert "Traceback" not in err


@pytest.mark.parametrize("changing", [("--fix", "--unsafe-fixes"), ("--add-ignore",), ("--write-baseline",)])
def test_nothing_is_changed_where_the_configuration_is_not_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], changing: tuple[str, ...]
) -> None:
    monkeypatch.setattr(check_command, "main_settings", fail)
    assert main(["check", "-n", *changing, "."]) == 2
    assert "nothing was checked: KeyError at " in capsys.readouterr().err
    assert sorted(path.name for path in Path().iterdir()) == ["a.py", "nonstrict.toml"]
    assert Path("a.py").read_text() == TEXT


def test_no_fix_is_made_of_rules_that_may_not_be_selected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Selection, "__init__", fail)
    assert main(["check", "-n", "--fix", "--unsafe-fixes", "."]) == 2
    assert Path("a.py").read_text() == TEXT


def test_options_that_are_not_read_are_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(check_arguments, "add_configuration_arguments", fail)
    assert main(["check", "."]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    assert "the command was not run to its end" in told.err
