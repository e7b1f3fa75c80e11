"""The command line as users run it: a process in a directory of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

BAD = """\
import torch

SCALE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE
"""
CLEAN = """\
import torch


@torch._dynamo.nonstrict_trace
def scaled(x, scale):
    return x * scale
"""


class Outcome(NamedTuple):
    """What a process said and how it ended."""

    status: int
    out: str
    err: str


class Command(Protocol):
    """Runs `nonstrict` with arguments."""

    def __call__(self, *arguments: str, stdin: str | bytes = "", **environment: str) -> Outcome: ...


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    return tmp_path


@pytest.fixture
def nonstrict(tmp_path: Path) -> Command:
    hidden = ("NONSTRICT_", "CI", "GITHUB_ACTIONS", "NO_COLOR", "FORCE_COLOR")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}

    def run(*arguments: str, stdin: str | bytes = "", **environment: str) -> Outcome:
        completed = subprocess.run(
            [sys.executable, "-m", "nonstrict", *arguments],
            cwd=tmp_path,
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            env={**inherited, **environment},
            check=False,
            timeout=60,
        )
        out, err = completed.stdout.decode(), completed.stderr.decode()
        assert "Traceback" not in err
        return Outcome(completed.returncode, out, err)

    return run
