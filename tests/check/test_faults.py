"""One fault costs one thing: what an exception in a rule, a fix or a body loses is reported, and nothing else."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check import analysis, examination
from nonstrict.check.live.folder import Folder
from nonstrict.check.workers import can_fork
from nonstrict.cli.main import main
from nonstrict.program.contracts.marked_body import MarkedBody
from nonstrict.rules.registry import RULES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD = "import torch\n\nW = torch.ones(3)\nLOG = []\n\n"
TEXT = HEAD + "".join(
    f"@torch._dynamo.nonstrict_trace\ndef {name}(x):\n    print(x)\n    LOG.append(1)\n    return x + W\n\n"
    for name in ("first", "second")
)
ALL = ["NST101", "NST101", "NST201", "NST201", "NST203", "NST203"]


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text(TEXT)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def check(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, list[dict[str, Any]], str]]:
    def run(*arguments: str) -> tuple[int, list[dict[str, Any]], str]:
        status = main(["check", "--output-format", "json", *arguments])
        told = capsys.readouterr()
        return status, json.loads(told.out), told.err

    return run


def fail(*_: object) -> Iterator[Any]:
    """Yields nothing, and fails when it is asked."""
    raise KeyError("who knows")
    yield


def codes(diagnostics: list[dict[str, Any]]) -> list[str]:
    return sorted(one["code"] for one in diagnostics)


def fail_in(name: str, of: Any) -> Any:
    """A function that fails for one of the two bodies."""

    def work(body: MarkedBody, *rest: Any) -> Any:
        if body.function == name:
            raise KeyError("who knows")
        return of(body, *rest)

    return work


def test_nothing_is_lost(check: Any) -> None:
    status, found, err = check("-n", ".")
    assert (status, codes(found), err) == (1, ALL, "")


def test_a_rule_that_fails_costs_its_findings(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "NST201", RULES["NST201"]._replace(examine=fail))
    status, found, err = check("-n", ".")
    assert status == 2
    assert codes(found) == ["NST101", "NST101", "NST203", "NST203", "NST904", "NST904"]
    assert [one["location"]["row"] for one in found if one["code"] == "NST904"] == [6, 12]
    assert err.splitlines()[0].startswith("nonstrict: a.py:6: `first` was not checked for NST201: KeyError at ")
    assert len(err.splitlines()) == 2
    assert "report it" in err


def test_what_a_rule_found_before_it_failed_counts(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    known = RULES["NST201"].examine
    assert known is not None

    def half(body: Any) -> Iterator[Any]:
        yield from known(body)
        yield from fail()

    monkeypatch.setitem(RULES, "NST201", RULES["NST201"]._replace(examine=half))
    assert codes(check("-n", ".")[1]) == [*ALL, "NST904", "NST904"]


def test_rules_that_fail_alike_are_one_fault(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in ("NST101", "NST201", "NST203"):
        monkeypatch.setitem(RULES, code, RULES[code]._replace(examine=fail))
    _, found, err = check("-n", ".")
    assert codes(found) == ["NST904", "NST904"]
    assert "`first` was not checked for NST101, NST201, NST203: " in err


def test_a_body_that_fails_costs_no_other(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "_interpret", fail_in("first", examination._interpret))
    status, found, err = check("-n", ".")
    assert (status, codes(found)) == (2, ["NST101", "NST201", "NST203", "NST904"])
    assert "`first` was not analysed: KeyError" in err


def test_what_is_asked_of_other_files_costs_no_body(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MarkedBody, "announce", fail_in("first", MarkedBody.announce))
    status, found, err = check("-n", ".")
    assert (status, codes(found)) == (2, [*ALL, "NST904"])
    assert "what `first` reads was not asked of other files: KeyError" in err


def test_a_fix_that_fails_costs_no_finding(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "NST201", RULES["NST201"]._replace(fixes=fail))
    status, found, err = check("-n", ".")
    assert (status, codes(found)) == (2, [*ALL, "NST904", "NST904"])
    assert "fix of NST201 in `first` was not made: KeyError" in err
    assert all(one["fix"] is not None for one in found if one["code"] == "NST101")


def test_a_file_without_marks_that_are_found_costs_no_other(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("b.py").write_text(TEXT)
    known = examination.roots.discover

    def discover(machine: Any, module: Any, *rest: Any) -> None:
        if module.path == "a.py":
            raise MemoryError
        known(machine, module, *rest)

    monkeypatch.setattr(examination.roots, "discover", discover)
    status, found, err = check("-n", ".")
    assert (status, codes(found)) == (2, [*ALL, "NST904"])
    assert err.startswith("nonstrict: a.py:1: the file was not searched for marks: MemoryError")


@pytest.mark.parametrize("arguments", [("--select", "NST1"), ("--ignore", "NST904"), ("--exit-zero",)])
def test_no_setting_hides_a_fault(check: Any, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]) -> None:
    monkeypatch.setitem(RULES, "NST101", RULES["NST101"]._replace(examine=fail))
    status, found, _ = check("-n", *arguments, ".")
    assert status == 2
    assert codes(found).count("NST904") == 2


def test_no_comment_hides_a_fault(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a.py").write_text("# nonstrict: ignore-file\n" + TEXT)
    monkeypatch.setitem(RULES, "NST101", RULES["NST101"]._replace(examine=fail))
    status, found, _ = check("-n", ".")
    assert status == 2
    assert codes(found).count("NST904") == 2


def test_a_run_with_a_fault_is_not_remembered(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setitem(RULES, "NST101", RULES["NST101"]._replace(examine=fail))
        assert check(".")[0] == 2
    status, found, _ = check(".")
    assert (status, codes(found)) == (1, ALL)


def test_every_number_of_processes_tells_the_same(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    monkeypatch.setitem(RULES, "NST201", RULES["NST201"]._replace(examine=fail))
    Path("b.py").write_text(TEXT)
    one = check("-n", "-j", "1", ".")
    assert one[0] == 2
    assert codes(one[1]).count("NST904") == 4
    assert check("-n", "-j", "2", ".") == one


@pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")
def test_a_process_that_is_killed_costs_nothing_if_its_part_can_be_analysed_alone(
    check: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    for name in "bcd":
        Path(f"{name}.py").write_text(TEXT)
    expected = check("-n", "-j", "1", ".")
    parent, known = os.getpid(), examination.examine
    killed = Path("killed")

    def examine(ready: Any, parts: Any, *rest: Any) -> Any:
        if os.getpid() != parent and not killed.exists():
            next(iter(parts))
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return known(ready, parts, *rest)

    monkeypatch.setattr(examination, "examine", examine)
    assert check("-n", "-j", "2", ".") == expected
    assert killed.exists()


@pytest.mark.skipif(not can_fork(), reason="processes cannot be forked here")
def test_a_part_that_kills_its_process_costs_no_other(check: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "_PART_BYTES", 100)
    Path("b.py").write_text(TEXT)
    parent, known = os.getpid(), examination.examine

    def examine(ready: Any, parts: Any, *rest: Any) -> Any:
        if os.getpid() != parent:
            next(iter(parts), None)
            os.kill(os.getpid(), signal.SIGKILL)
        first = next(iter(parts))
        return known(ready, [first], *rest)

    monkeypatch.setattr(examination, "examine", examine)
    status, found, err = check("-n", "-j", "2", ".")
    assert status == 2
    assert codes(found).count("NST101") >= 2
    assert "the file was not analysed: WorkerError" in err


def test_the_server_shows_the_rest_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULES, "NST201", RULES["NST201"]._replace(examine=fail))
    folder = Folder(str(tmp_path))
    path = str(tmp_path / "a.py")
    folder.set_text(path, TEXT)
    folder.scan()
    found = sorted(one.code for one in folder.diagnostics(path))
    assert found == ["NST101", "NST101", "NST203", "NST203", "NST904", "NST904"]
    monkeypatch.setitem(RULES, "NST203", RULES["NST203"]._replace(fixes=fail))
    asked = [one for one in folder.diagnostics(path) if one.code in ("NST101", "NST203")]
    assert any(one[0] == "NST101" for one, fixes in folder.fixes(path, asked).items() if fixes)
    monkeypatch.undo()
    folder.set_text(path, TEXT + "\n\nprint(first)\n")
    assert sorted(one.code for one in folder.diagnostics(path)) == ALL
