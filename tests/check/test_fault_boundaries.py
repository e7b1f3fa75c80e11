"""One fault costs one thing, wherever it happens: searching, reading, linking, showing and applying, and in `audit`."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check import analysis, baseline, confirmation, diagnostics, examination, files, fixing, workers
from nonstrict.check.patterns import PathMatcher
from nonstrict.cli.main import main
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.program.contracts.regions.region import CompiledRegion
from nonstrict.program.discovery import callers, roots
from nonstrict.report import context as report_context
from nonstrict.report import statistics
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import DEFAULT_BASELINE, FORMATS
from nonstrict.text import source as text_source
from nonstrict.text.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

TEXT = """import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def first(x):
    print(x)
    return x + W


@torch.compile(fullgraph=True)
def step(x):
    print(x)
    return first(x)
"""
ALL = ["NST101", "NST201", "NST701"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "ab":
        (tmp_path / f"{name}.py").write_text(TEXT)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(list(arguments))
        told = capsys.readouterr()
        return status, told.out, told.err

    return run


@pytest.fixture
def check(run: Any) -> Callable[..., tuple[int, dict[str, list[str]], str]]:
    """Checks; the codes by file."""

    def check(*arguments: str) -> tuple[int, dict[str, list[str]], str]:
        status, out, err = run("check", "-n", "--output-format", "json", *(arguments or (".",)))
        found: dict[str, list[str]] = {}
        for one in json.loads(out):
            found.setdefault(os.path.basename(one["filename"]), []).append(one["code"])
        return status, {name: sorted(codes) for name, codes in found.items()}, err

    return check


def failing(known: Any, fails: Callable[..., bool]) -> Any:
    """A function that fails for some arguments."""

    def work(*arguments: Any, **keywords: Any) -> Any:
        if fails(*arguments, **keywords):
            raise KeyError("who knows")
        return known(*arguments, **keywords)

    return work


def of_a(*arguments: Any, **_: Any) -> bool:
    """Whether any argument is, or is of, the file `a.py`."""
    return any("a.py" in (one, getattr(one, "path", None)) for one in arguments)


def assert_told(err: str, sentence: str) -> None:
    lines = err.splitlines()
    assert len(lines) == 1, err
    assert sentence in lines[0]
    assert "KeyError at " in lines[0]
    assert "report it" in lines[0]


def test_nothing_is_lost(check: Any) -> None:
    assert check() == (1, {"a.py": ALL, "b.py": ALL}, "")


@pytest.mark.parametrize(
    ("place", "name", "sentence"),
    [
        (analysis, "repaired", "a.py:1: the file was not read"),
        (files._Walk, "_entry", "a.py:1: the file was not looked at"),
        (examination.unattached, "marks", "a.py:1: the file was not searched for markers without effect"),
    ],
)
def test_a_file_that_cannot_be_read_costs_no_other(
    check: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, sentence: str
) -> None:
    fails = of_a if name != "_entry" else (lambda _, entry, *__: entry.name == "a.py")
    monkeypatch.setattr(place, name, failing(getattr(place, name), fails))
    status, found, err = check()
    assert (status, found["b.py"]) == (2, ALL)
    assert "NST904" in found["a.py"]
    assert_told(err, sentence)


@pytest.mark.parametrize(
    ("place", "name", "sentence"),
    [
        (text_source, "decode", "a.py:1: the file was not read"),
        (analysis, "may_mark", "a.py:1: the file was not searched for markers"),
    ],
)
def test_bytes_that_cannot_be_read_cost_no_other(
    check: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, sentence: str
) -> None:
    Path("a.py").write_text(f"{TEXT}# strange\n")
    monkeypatch.setattr(place, name, failing(getattr(place, name), lambda data, *_: b"# strange" in data))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ["NST904"], "b.py": ALL})
    assert_told(err, sentence)


def test_a_directory_that_cannot_be_searched_costs_no_other(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("odd", "fine"):
        Path(name).mkdir()
        Path(name, f"{name}.py").write_text(TEXT)
    known = PathMatcher.matches
    monkeypatch.setattr(PathMatcher, "matches", failing(known, lambda _, name, path: name == "odd"))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ALL, "b.py": ALL, "fine.py": ALL, "odd": ["NST904"]})
    assert_told(err, "odd:1: the directory was not searched")


def test_a_path_that_was_named_costs_no_other(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files._Walk, "add", failing(files._Walk.add, lambda _, path: path == "a.py"))
    assert check("a.py", "b.py")[:2] == (2, {"a.py": ["NST904"], "b.py": ALL})


def test_a_gitignore_that_cannot_be_read_costs_no_file(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(".gitignore").write_text("c.py\n")
    monkeypatch.setattr(files, "_with_file", failing(files._with_file, lambda _, path, __: path.endswith(".gitignore")))
    (Path(".git") / "info").mkdir(parents=True)
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ALL, "b.py": ALL, ".gitignore": ["NST904"]})
    assert_told(err, ".gitignore:1: the file was not read")


@pytest.mark.skipif(not workers.can_fork(), reason="processes cannot be forked here")
def test_a_killed_process_of_the_search_costs_nothing(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "_MIN_SHARED", 1)
    parent, known = os.getpid(), analysis._bytes

    def read(path: str, options: Any) -> bytes:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        return known(path, options)

    monkeypatch.setattr(analysis, "_bytes", read)
    assert check("-j", "2", ".") == (1, {"a.py": ALL, "b.py": ALL}, "")


def test_a_definition_that_cannot_be_searched_for_marks_costs_no_other(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails = failing(roots.evaluate_chunk, lambda _, module, chunk, *__: of_a(module) and chunk.name == "first")
    monkeypatch.setattr(roots, "evaluate_chunk", fails)
    status, found, err = check()
    assert (status, found["b.py"]) == (2, ALL)
    assert {"NST701", "NST904"} <= set(found["a.py"])
    assert_told(err, "a.py:6: `first` was not searched for marks")


def test_code_outside_functions_costs_no_definition(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[str] = []

    def first_time(_: Any, module: Any, *__: Any) -> bool:
        times.append(module.path)
        return of_a(module) and times.count("a.py") == 1

    monkeypatch.setattr(roots, "run_shell", failing(roots.run_shell, first_time))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": sorted([*ALL, "NST904"]), "b.py": ALL})
    assert_told(err, "a.py:1: what the file does outside functions was not searched for marks")


@pytest.mark.parametrize(
    ("place", "name", "sentence"),
    [
        (roots, "seek_factory_calls", "the calls of the factory of a marked function were not all looked for"),
        (callers, "expect_calls", "the calls of a marked function were not all looked for"),
    ],
)
def test_calls_that_cannot_be_looked_for_cost_no_finding(
    check: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, sentence: str
) -> None:
    def fails(_: Any, marks: Any) -> bool:
        return any(map(of_a, marks if isinstance(marks, list) else [marks]))

    monkeypatch.setattr(place, name, failing(getattr(place, name), fails))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": sorted([*ALL, "NST904"]), "b.py": ALL})
    assert_told(err, sentence)


def test_a_region_costs_no_marked_function(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = CompiledRegion.observed
    monkeypatch.setattr(CompiledRegion, "observed", failing(known, lambda region, *_: of_a(region.mark)))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ["NST101", "NST201", "NST904"], "b.py": ALL})
    assert_told(err, "a.py:12: `step` was not analysed")


def test_fixes_cost_no_finding(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from nonstrict.check import mending

    monkeypatch.setattr(mending, "mended", failing(mending.mended, lambda *_: True))
    status, found, _ = check()
    assert (status, found) == (2, {name: sorted([*ALL, "NST904"]) for name in ("a.py", "b.py")})


def test_suppressions_that_cannot_be_read_cost_no_finding(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnostics, "may_suppress", failing(diagnostics.may_suppress, lambda *_, **__: True))
    status, found, _ = check("a.py")
    assert (status, found) == (2, {"a.py": sorted([*ALL, "NST904"])})


def test_a_place_that_cannot_be_told_costs_one_finding(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = Source.locate
    monkeypatch.setattr(Source, "locate", failing(known, lambda source, span: of_a(source) and span.line == 9))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ["NST201", "NST701", "NST904"], "b.py": ALL})
    assert_told(err, "a.py:9: a finding of NST101 is not shown")


def test_a_fix_that_cannot_be_applied_costs_no_other(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fixing, "applied", failing(fixing.applied, of_a))
    status, out, err = run("check", "-n", "--unsafe-fixes", "--fix", ".")
    assert (status, out.count("NST904")) == (2, err.count("cannot be made"))
    assert "a.py:8: the fix of NST201 (Remove the call of `print`) cannot be made: KeyError at " in err
    assert Path("a.py").read_text() == TEXT
    assert Path("b.py").read_text() != TEXT


@pytest.mark.parametrize("name", FORMATS)
def test_a_format_that_fails_for_a_finding_costs_no_other(run: Any, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    known = report_context.renderer

    def renderer(wanted: str) -> Any:
        return failing(
            known(wanted), lambda found, _: any(one.code == "NST101" and of_a(one.location) for one in found)
        )

    monkeypatch.setattr(report_context, "renderer", renderer)
    status, out, err = run("check", "-n", "--output-format", name, ".")
    assert status == 2
    assert_told(err, "a.py:9: a finding of NST101 is not shown")
    assert out.count("NST201") >= 2
    assert "NST904" in out


def test_a_format_that_fails_altogether_costs_no_finding(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_context, "renderer", lambda _: failing(None, lambda *_: True))
    status, out, err = run("check", "-n", "--output-format", "sarif", "a.py")
    assert (status, out) == (2, "")
    told = err.splitlines()
    assert told[0].startswith("nonstrict: the output format failed: KeyError at ")
    assert [line.split()[2] for line in told[1:]] == ["NST201", "NST101", "NST701"]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("read_baseline", "the baseline was not read"),
        ("identified", "the findings were not compared with the baseline"),
    ],
)
def test_a_baseline_costs_no_finding(
    run: Any, check: Any, monkeypatch: pytest.MonkeyPatch, name: str, sentence: str
) -> None:
    run("check", "-n", "--write-baseline", ".")
    before = Path(DEFAULT_BASELINE).read_text()
    assert check() == (0, {}, "")
    monkeypatch.setattr(baseline, name, failing(None, lambda *_: True))
    status, found, err = check()
    assert (status, found) == (2, {"a.py": ALL, "b.py": ALL, DEFAULT_BASELINE: ["NST904"]})
    assert_told(err, f"{DEFAULT_BASELINE}:1: {sentence}")
    assert Path(DEFAULT_BASELINE).read_text() == before
    status, _, err = run("check", "-n", "--fix-only", "--unsafe-fixes", ".")
    assert (status, sentence in err) == (2, True)


@pytest.mark.parametrize("name", ["stale", "write"])
def test_a_baseline_that_does_not_shrink_costs_no_finding(
    run: Any, check: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.delenv("CI", raising=False)
    run("check", "-n", "--write-baseline", ".")
    Path("b.py").write_text(TEXT.replace("x + W", "x * W"))
    monkeypatch.setattr(baseline.Baseline, name, failing(None, lambda *_, **__: True))
    status, found, err = check()
    assert (status, found) == (2, {"b.py": ["NST101"], DEFAULT_BASELINE: ["NST904"]})
    assert_told(err, "the baseline was not compared with what is left")


@pytest.mark.parametrize("name", ["full", "json"])
def test_statistics_that_fail_for_a_finding_count_the_others(
    run: Any, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    fails = failing(statistics.is_fixable, lambda one, _: one.code == "NST101")
    monkeypatch.setattr(statistics, "is_fixable", fails)
    status, out, err = run("check", "-n", "--statistics", "--output-format", name, "a.py")
    assert status == 2
    assert all(code in out for code in ("NST201", "NST701", "NST904"))
    assert_told(err, "a.py:9: a finding of NST101 is not shown")


def test_experiments_cost_no_finding(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmation, "program_in", failing(None, lambda *_: True))
    status, out, err = run("check", "-n", "--confirm", "-q", "--output-format", "json", "a.py")
    assert status == 2
    assert sorted(one["code"] for one in json.loads(out)) == sorted([*ALL, "NST904"])
    assert_told(err, "the findings of the file were not confirmed")


def audited(run: Any, *arguments: str) -> tuple[int, dict[str, Any], str]:
    status, out, err = run("audit", "a.py::first", "--output-format", "json", *arguments)
    return status, json.loads(out), err


def test_an_audit_loses_one_rule(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "NST101", RULES["NST101"]._replace(examine=failing(None, lambda *_: True)))
    status, answer, err = audited(run)
    assert (status, answer["verdict"]) == (2, "obstacles")
    assert [one["code"] for one in answer["findings"]] == ["NST201", "NST904"]
    assert_told(err, "`first` was not checked for NST101")


def test_an_audit_that_lost_something_is_never_pure(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("def first(x):\n    return x + 1\n")
    monkeypatch.setitem(RULES, "NST101", RULES["NST101"]._replace(examine=failing(None, lambda *_: True)))
    assert audited(run)[1]["verdict"] == "unknown"
    status, out, _ = run("audit", "a.py::first")
    assert status == 2
    assert "no obstacle found to marking it with `nonstrict_trace`, but not everything was checked." in out


@pytest.mark.parametrize(
    ("place", "name", "sentence"),
    [
        (roots, "discover", "the file was not searched for marks"),
        (MarkedBody, "announce", "the callers of `first` were not looked for"),
    ],
)
def test_an_audit_answers_without_what_was_lost(
    run: Any, monkeypatch: pytest.MonkeyPatch, place: Any, name: str, sentence: str
) -> None:
    monkeypatch.setattr(place, name, failing(None, lambda *_: True))
    status, answer, err = audited(run)
    assert status == 2
    assert {"NST101", "NST201", "NST904"} == {one["code"] for one in answer["findings"]}
    assert sentence in err
