"""One fault costs one thing, in what surrounds an analysis: cache, settings, baseline, fixes, comments, experiments."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check import analysis, baseline, environment, examination, fixing
from nonstrict.check.cache import parts, runs
from nonstrict.check.selection import Selection
from nonstrict.cli import check as check_command
from nonstrict.cli import fixing as fix_command
from nonstrict.cli.main import main
from nonstrict.fixes import suppressing
from nonstrict.fixes.applying import Places
from nonstrict.report import difference
from nonstrict.settings import load
from nonstrict.settings.model import DEFAULT_BASELINE
from nonstrict.text.suppressions import Suppressions

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = """import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def first(x):
    print(x)
    return x + W
"""
ALL = ["NST101", "NST201"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("a.py", "sub/b.py"):
        (tmp_path / name).write_text(TEXT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Run]:
    """Runs a command that reports in JSON, if it reports: (status, codes by file, standard error)."""
    monkeypatch.setenv("NONSTRICT_OUTPUT_FORMAT", "json")

    def run(*arguments: str) -> Run:
        status = main(["check", *arguments])
        told = capsys.readouterr()
        found: dict[str, list[str]] = {}
        for one in json.loads(told.out) if told.out.startswith("[") else ():
            found.setdefault(os.path.basename(one["filename"]), []).append(one["code"])
        return status, {name: sorted(codes) for name, codes in found.items()}, told.err

    return run


Run = tuple[int, dict[str, list[str]], str]


def fail(*_: Any, **__: Any) -> Any:
    raise KeyError("who knows")


def codes(found: dict[str, list[str]]) -> list[str]:
    return sorted(code for own in found.values() for code in own)


PLACES = [
    (("-n",), environment, "environments_of", "the environment of the project was not looked at"),
    (("-n",), examination, "wrappers_of", "wrappers of markers were not all looked for"),
    (("-n",), examination, "gathered", "the findings in `first` were not gathered"),
    (("-n",), Selection, "ignored_in", "what `per-file-ignores` says of the file was not read"),
    ((), runs, "open_cache", "the cache was not read"),
    ((), runs.Cache, "load", "the cache was not read"),
    ((), runs.Cache, "store", "the cache was not written"),
    ((), parts.PartsMemory, "recall", "the cache of what parts of the project yield was not read"),
    ((), parts.PartsMemory, "keep", "the cache of what parts of the project yield was not written"),
    (("-n", "--write-baseline"), baseline.Baseline, "replaced", "the baseline was not written"),
    (("-n", "--write-baseline"), baseline.Baseline, "write", "the baseline was not written"),
    (("-n", "--confirm", "-q"), check_command, "confirmed", "nothing was confirmed"),
    (("-n", "--fix", "--unsafe-fixes"), fixing, "_sources", "no changes were made"),
    (("-n", "--fix", "--unsafe-fixes"), Places, "take", "(Remove the call of `print`) cannot be made"),
    (("-n", "--fix", "--unsafe-fixes"), fix_command, "write_all", "no changes were made"),
]


@pytest.mark.parametrize(("options", "place", "name", "sentence"), PLACES)
def test_no_finding_is_lost(
    run: Any, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], place: Any, name: str, sentence: str
) -> None:
    monkeypatch.setattr(place, name, fail)
    status, found, err = run(*options, ".")
    assert status == 2
    assert codes(found)[:4] == sorted([*ALL, *ALL])
    assert set(codes(found)[4:]) == {"NST904"}
    assert f"{sentence}: KeyError at " in err
    assert err.count("report it") == codes(found).count("NST904")
    assert (Path("a.py").read_text(), os.path.exists(DEFAULT_BASELINE)) == (TEXT, False)


def test_no_temporary_file_is_left(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", fail)
    assert run("-n", "--write-baseline", ".")[0] == 2
    assert sorted(os.listdir()) == ["a.py", "sub"]


def test_a_configuration_below_costs_no_file(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub/nonstrict.toml").write_text("ignore = ['NST101']\n")
    assert run("-n", ".")[:2] == (1, {"a.py": ALL, "b.py": ["NST201"]})
    monkeypatch.setattr(load, "settings_in", fail)
    for named in ((".",), ("a.py", "sub")):
        status, found, err = run("-n", *named)
        assert (status, found["b.py"]) == (2, ALL)
        assert "the configuration in the directory was not read: KeyError at " in err


def test_an_analysis_that_fails_as_a_whole_costs_no_syntax_error(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(f"{TEXT}\n)\n")
    monkeypatch.setattr(analysis, "_in_shares", fail)
    assert run("-n", ".")[:2] == (2, {"a.py": ["NST901", "NST904"], "b.py": ["NST904"]})


def test_idle_suppressions_cost_no_finding(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text(TEXT.replace("print(x)", "print(x)  # nonstrict: ignore[NST203]"))
    assert run("-n", ".")[:2] == (1, {"a.py": [*ALL, "NST902"], "b.py": ALL})
    monkeypatch.setattr(Suppressions, "unused", fail)
    assert run("-n", ".")[:2] == (2, {"a.py": [*ALL, "NST904"], "b.py": ALL})


def test_a_finding_that_cannot_be_suppressed_costs_no_other(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = suppressing.suppress_on_line

    def suppress(source: Any, location: Any, code: str, *rest: Any) -> Any:
        return fail() if code == "NST101" else known(source, location, code, *rest)

    monkeypatch.setattr(suppressing, "suppress_on_line", suppress)
    status, _, err = run("-n", "--add-ignore", ".")
    assert status == 2
    assert "a.py:1: a finding of NST101 was not suppressed: KeyError at " in err
    assert [Path(name).read_text().count("ignore[NST201]") for name in ("a.py", "sub/b.py")] == [1, 1]


def test_a_difference_that_cannot_be_shown_costs_no_other(monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> None:
    known = difference.render_difference

    def render(path: str, *rest: Any, **keywords: Any) -> Any:
        return fail() if path == "a.py" else known(path, *rest, **keywords)

    monkeypatch.setattr(difference, "render_difference", render)
    assert main(["check", "-n", "--diff", "--unsafe-fixes", "."]) == 2
    told = capfdbinary.readouterr()
    assert told.out.startswith(b"--- sub/b.py\n")
    assert b"a.py:1: the changes of the file are not shown: KeyError at " in told.err


def test_a_file_that_may_not_be_written_costs_no_finding(run: Any) -> None:
    Path("a.py").chmod(0o444)
    status, found, err = run("-n", "--fix", "--unsafe-fixes", ".")
    assert (status, found) == (2, {"a.py": ALL, "b.py": ALL})
    assert err == "nonstrict: a.py is read-only; make it writable or exclude it. No file was changed.\n"


def test_a_baseline_that_may_not_be_written_costs_no_finding(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    run("-n", "--write-baseline", ".")
    Path("a.py").write_text(TEXT.replace("x + W", "x * W"))

    def refuse(_: baseline.Baseline) -> None:
        raise PermissionError(13, "Permission denied", DEFAULT_BASELINE)

    monkeypatch.setattr(baseline.Baseline, "write", refuse)
    status, found, err = run("-n", ".")
    assert (status, found) == (2, {"a.py": ["NST101"]})
    assert err == f"nonstrict: {DEFAULT_BASELINE} cannot be written: Permission denied\n"
