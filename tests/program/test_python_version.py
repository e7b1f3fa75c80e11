"""Conditions on `sys.version_info`: decided by the lowest Python that a program is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check.analysis import AnalysisOptions, analyse
from nonstrict.check.environment import Environment, Environments

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import random
import sys
from sys import version_info

import torch

NEW = sys.version_info >= (3, 10)


@torch._dynamo.nonstrict_trace
def drawn(x):
    if {condition}:
        x = x * random.random()
    return x
"""
#: Of a program for Python 3.10 and later.
NEVER = [
    "sys.version_info < (3, 10)",
    "sys.version_info < (3, 9, 2)",
    "sys.version_info <= (3, 9)",
    "sys.version_info < (3,)",
    "(3, 10) > sys.version_info",
    "not sys.version_info >= (3, 10)",
    "sys.version_info == (3, 9)",
    "sys.version_info[:2] < (3, 10)",
    "sys.version_info[:2] == (3, 9)",
    "sys.version_info[0] == 2",
    "sys.version_info[0] < 3",
    "sys.version_info.major < 3",
    "sys.version_info.minor < 10",
    "sys.version_info[1] < 10",
    "version_info < (3, 8)",
    "not NEW",
]
OPEN = [
    "sys.version_info < (3, 11)",
    "sys.version_info >= (3, 11)",
    "sys.version_info < (3, 10, 4)",
    "sys.version_info <= (3, 10)",
    "sys.version_info == (3, 10)",
    "sys.version_info[:2] == (3, 10)",
    "sys.version_info[:2] != (3, 10)",
    "sys.version_info[:2] > (3, 10)",
    "(3, 12) <= sys.version_info",
    "sys.version_info.minor == 10",
    "sys.version_info.minor > 10",
    "sys.version_info[1] >= 11",
    "sys.version_info.micro < 3",
    "sys.version_info[2] == 0",
    "sys.version_info[-1] == 0",
    "len(sys.version_info) == 4",
    "sys.version_info > sys.version_info",
]
ALWAYS = ["sys.version_info >= (3, 10)", "sys.version_info.major == 3", "sys.version_info[:2] >= (3, 8)", "NEW"]


def codes(tmp_path: Path, condition: str, python: tuple[int, int] | None) -> list[str]:
    path = tmp_path / "a.py"
    path.write_text(PROGRAM.format(condition=condition), encoding="utf-8")
    return [
        finding.code
        for finding in analyse([str(path)], AnalysisOptions(Environments(Environment(python=python)))).findings
    ]


@pytest.mark.parametrize("condition", NEVER)
def test_what_no_python_of_the_program_runs_is_not_looked_at(tmp_path: Path, condition: str):
    assert codes(tmp_path, condition, (3, 10)) == []
    assert codes(tmp_path, condition, None) == ["NST301"]


@pytest.mark.parametrize("condition", [*OPEN, *ALWAYS])
def test_what_some_python_runs_is_looked_at(tmp_path: Path, condition: str):
    assert codes(tmp_path, condition, (3, 10)) == ["NST301"]


@pytest.mark.parametrize("condition", ALWAYS)
def test_what_every_python_of_the_program_runs_leaves_nothing_else(tmp_path: Path, condition: str):
    assert codes(tmp_path, f"not ({condition})", (3, 10)) == []


def test_a_module_that_a_python_lacks_may_be_one_of_the_project(tmp_path: Path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.setuptools.package-dir]\n"" = "lib"\n', encoding="utf-8")
    (tmp_path / "lib" / "chunk.py").write_text(
        "import random\n\n\ndef noise():\n    return random.random()\n", encoding="utf-8"
    )
    path = tmp_path / "model.py"
    path.write_text(
        "import chunk\nimport torch\n\n\n@torch._dynamo.nonstrict_trace\ndef noisy(x):\n    return x * chunk.noise()\n",
        encoding="utf-8",
    )
    found = {
        python: [
            finding.code
            for finding in analyse([str(path)], AnalysisOptions(Environments(Environment(python=python)))).findings
        ]
        for python in ((3, 12), (3, 13))
    }
    assert found == {(3, 12): [], (3, 13): ["NST301"]}
