"""What tests of experiments need: an interpreter with torch, a sandbox, and a project in a temporary directory."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def nonstrict(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command of nonstrict in the temporary directory, with this interpreter's torch."""
    pytest.importorskip("torch")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "nonstrict", *arguments, "--isolated", "-q", "-n", "--python", sys.executable]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
        if "cannot be isolated" in done.stderr or "no isolation" in done.stderr:
            pytest.skip("programs cannot be isolated on this machine")
        return done

    return run
