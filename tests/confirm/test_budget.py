"""`nonstrict budget --confirm`: regions of which no run is kept are compiled, and what that made counts."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Budget = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.torch

MODEL = """\
import json

import torch

SAYS, TWICE = json.loads('[true, false]')


@torch.compile
def broken(x):
    x = x * 3
    if SAYS:
        print("breaks")
    x = x + 1
    if TWICE:
        print("breaks again")
    return x + 1


@torch.compile
def whole(x):
    return x * 2


if __name__ == "__main__":
    broken(torch.ones(2))
    whole(torch.ones(3))
"""
ENTRIES = '[budget]\n"model.py::broken" = { graphs = 1 }  # it was whole\n"model.py::whole" = { graphs = 2 }\n'


@pytest.fixture
def budget(tmp_path: Path) -> Budget:
    """Runs `nonstrict budget` in a project with a budget."""
    pytest.importorskip("torch")
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "nonstrict.toml").write_text(ENTRIES)
    environment = {name: text for name, text in os.environ.items() if name != "CI"}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nonstrict", "budget", "-q", "-n", "--python", sys.executable, *options]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=600
        )
        if "cannot be isolated" in done.stderr or "no isolation" in done.stderr:
            pytest.skip("programs cannot be isolated on this machine")
        return done

    return run


def test_experiments_measure_what_the_analysis_leaves_open(budget: Budget, tmp_path: Path):
    foretold = budget()
    assert foretold.returncode == 0
    assert "`broken`: 1 to 3 graphs (predicted), budget 1\n" in foretold.stdout
    measured = budget("--confirm")
    assert measured.returncode == 1, measured.stderr
    assert measured.stdout == (
        "model.py:9: `broken`: 2 graphs (measured just now), budget 1: exceeded (`model.py::broken`)\n"
        "model.py:20: `whole`: 1 graph (measured just now), budget 2: fell (`model.py::whole`)\n"
        "2 numbers of 2 regions in the budget: 1 exceeded, 1 fell.\n"
        "`nonstrict budget --confirm --write` writes 2 entries of what is known.\n"
    )
    written = budget("--confirm", "--write", "--locked")
    assert (written.returncode, written.stderr) == (0, "Wrote 2 entries into nonstrict.toml.\n")
    assert (tmp_path / "nonstrict.toml").read_text() == (
        '[budget]\n"model.py::broken" = { graphs = 2 }  # it was whole\n"model.py::whole" = { graphs = 1 }\n'
    )
