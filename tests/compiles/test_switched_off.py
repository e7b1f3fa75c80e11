"""Programs that switch torch off on a real torch: no graph is made, as is told of their regions."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.program.test_switched_off import programs

if TYPE_CHECKING:
    from pathlib import Path

    from tests.suites.cases import Case

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

#: Runs a program as a script, and prints the number of graphs that Dynamo made of it.
_COUNTING = """
import runpy, sys
sys.path.insert(0, ".")
runpy.run_path("main.py", run_name="__main__")
from torch._dynamo.utils import counters
print("graphs", counters["stats"]["unique_graphs"])
"""
_SECONDS = 120


@pytest.mark.parametrize("case", programs("off"), ids=lambda case: case.title)
def test_nothing_is_compiled(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    run = subprocess.run(
        [sys.executable, "-c", _COUNTING], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    assert run.returncode == 0, run.stderr[-2000:]
    assert run.stdout.splitlines()[0] == "traced"
    assert run.stdout.splitlines()[-1] == "graphs 0"
