"""Runs pytest with the plugin on small projects, each run in a process of its own."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping

ANALYSIS = Path(__file__).resolve().parents[2] / "analysis"
_RESULT = re.compile(r"^(?:\[gw\d\] \[ *\d+%\] )?(PASSED|FAILED|ERROR|XFAIL|SKIPPED) \S*?\.py::(\S+)|", re.MULTILINE)
_LINE = re.compile(r"^\S+\.py::(\S+) (PASSED|FAILED|ERROR|XFAIL|SKIPPED)", re.MULTILINE)
#: A model that breaks the graph and is compiled again for numbers.
MODEL = """\
import torch


class Net(torch.nn.Module):
    def forward(self, x, n=1):
        x = x + 1
        print("breaks")
        return x * n


def scaled(x, n):
    return x * n


def plain(x):
    return x * 2
"""


class Outcome(NamedTuple):
    """How a run of pytest ended, what it said, and the results by the names of tests."""

    status: int
    out: str
    results: dict[str, str]

    def about(self, test: str) -> str:
        """What is said of a failure."""
        behind = self.out.split(f" {test} ___", 1)[1]
        return re.split(r"^_{3,} .*? _{3,}$|^={3,} .*", behind, maxsplit=1, flags=re.MULTILINE)[0]


class Pytest(Protocol):
    """Runs pytest on files."""

    def __call__(self, files: Mapping[str, str], *arguments: str, **environment: str) -> Outcome: ...


@pytest.fixture(scope="session")
def run_pytest(tmp_path_factory: pytest.TempPathFactory) -> Pytest:
    """A run in a new folder, or in that of the environment variable HERE."""
    hidden = ("NONSTRICT_", "CI", "PYTEST_", "TORCH", "COV_", "PY_COLORS", "FORCE_COLOR")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}

    def run(files: Mapping[str, str], *arguments: str, **environment: str) -> Outcome:
        folder = Path(environment.pop("HERE", "") or tmp_path_factory.mktemp("project"))
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        plugins = ("-p", "nonstrict_pytest.plugin", "-p", "no:cacheprovider", "--show-capture=no", "-v", "-W", "ignore")
        completed = subprocess.run(
            [sys.executable, "-m", "pytest", "--strict-markers", f"--rootdir={folder}", *plugins, *arguments],
            cwd=folder,
            env={
                **inherited,
                "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                "PYTHONPATH": f"{ANALYSIS}{os.pathsep}{folder}",
                "OMP_NUM_THREADS": "1",
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )
        out = completed.stdout
        found = {name: result for result, name in _RESULT.findall(out) if name}
        found |= dict(_LINE.findall(out))
        return Outcome(completed.returncode, out + completed.stderr, found)

    return run
