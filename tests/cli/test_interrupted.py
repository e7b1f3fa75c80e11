"""Ctrl-C while experiments run: the command ends at once, and says what it knows by then."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

PROGRAM = """
import torch

scale = 1.0


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * scale


@torch.compile
def step(x):
    return scaled(x) + 1


def change():
    global scale
    scale = 2.0


if __name__ == "__main__":
    for _ in range(3):
        step(torch.ones(3))
"""


def test_findings_are_told(tmp_path: Path) -> None:
    (tmp_path / "main.py").write_text(PROGRAM)
    arguments = ["check", "--confirm", "--no-cache", "--isolated", "--output-format", "json", "main.py"]
    run = subprocess.Popen(
        [sys.executable, "-m", "nonstrict", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr is not None
    told = next(line for line in run.stderr if "Importing torch" in line)
    time.sleep(0.3)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=10)
    assert run.returncode == 130, told + err
    assert "interrupted: experiments had settled 0 of 1 findings" in err
    assert [one["code"] for one in json.loads(out)] == ["NST104"]
