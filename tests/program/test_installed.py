"""What names of installed packages are: from their source, then from jedi, and never longer than the budget."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nonstrict.check.analysis import AnalysisOptions, analyse
from nonstrict.check.environment import Environment, Environments
from nonstrict.program.linking.installed import Described, Installed

PACKAGE = """
import torch

TABLE = torch.ones(3)


class Registry:
    def __init__(self):
        self.scale = 2.0

    def get(self):
        return self


registries = [Registry().get() for _ in range(1)]
MAIN = registries[0]
(HIDDEN,) = registries


def scaled(x):
    print("scaled")
    return x * 2
"""
CALLING = """
import torch
from kernels import scaled


@torch._dynamo.nonstrict_trace
def scale(x):
    return scaled(x)
"""
PROGRAM = """
import torch
from kernels import TABLE


@torch._dynamo.nonstrict_trace
def scale(x):
    return x * TABLE
"""


@pytest.fixture
def packages(tmp_path: Path) -> str:
    folder = tmp_path / "site-packages" / "kernels"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text(PACKAGE, encoding="utf-8")
    return str(folder.parent)


def checked(tmp_path: Path, packages: str, program: str) -> list[str]:
    path = tmp_path / "main.py"
    path.write_text(program, encoding="utf-8")
    return [
        finding.code
        for finding in analyse(
            [str(path)], AnalysisOptions(Environments(Environment(site_packages=(packages,))))
        ).findings
    ]


def test_a_tensor_of_an_installed_package_is_captured(tmp_path: Path, packages: str) -> None:
    assert checked(tmp_path, packages, PROGRAM) == ["NST101"]


def test_what_another_package_does_is_told_at_the_call(packages: str) -> None:
    path = Path(packages, "app", "__init__.py")
    path.parent.mkdir()
    path.write_text(CALLING, encoding="utf-8")
    inside, options = (
        str(Path(packages, "kernels", "__init__.py")),
        AnalysisOptions(Environments(Environment(site_packages=(packages,)))),
    )
    (finding,) = analyse([str(path)], options).findings
    assert (finding.code, finding.span.path, finding.span.line) == ("NST201", str(path), 8)
    assert [one.span.path for one in finding.related] == [str(path), inside]
    assert [one.span.path for one in analyse([str(path), inside], options).findings] == [inside]


def test_jedi_tells_the_class_of_an_instance(packages: str) -> None:
    assert Installed((packages,), seconds=30.0).describe("kernels", "HIDDEN") == Described(
        "instance", "kernels.Registry"
    )


def test_files_of_jedi_that_are_half_written_are_passed_over(
    packages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    expected = Described("instance", "kernels.Registry")
    assert Installed((packages,), seconds=30.0).describe("kernels", "HIDDEN") == expected
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file() and path.stat().st_size]
    assert kept
    for path in kept:
        path.write_bytes(b"")
    assert Installed((packages,), seconds=30.0).describe("kernels", "HIDDEN") == expected


def test_no_more_questions_are_asked_than_allowed(packages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", refuse)
    assert Installed((packages,), questions=0).describe("kernels", "HIDDEN") is None
    assert Installed(()).describe("kernels", "HIDDEN") is None


def test_a_question_that_takes_too_long_is_ended(packages: str) -> None:
    assert Installed((packages,), seconds=0.01).describe("kernels", "HIDDEN") is None


def test_jedi_is_not_started_without_a_marker(tmp_path: Path, packages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", refuse)
    assert checked(tmp_path, packages, PROGRAM.replace("@torch._dynamo.nonstrict_trace\n", "")) == []


def test_nobody_asks_about_torch(tmp_path: Path, packages: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "run", refuse)
    program = PROGRAM.replace("from kernels import TABLE", "import math").replace("TABLE", "torch.tau * math.tau")
    assert checked(tmp_path, packages, program) == []


def refuse(*arguments: object, **options: object) -> None:
    pytest.fail("a process was started")
