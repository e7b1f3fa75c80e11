"""Runs what needs torch, each in a child of one warm process: importing torch takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT = Path(__file__).resolve().parents[2]
SERVING = Path(__file__).with_name("serving.py")


class Warm:
    """The process that performs jobs, one after the other."""

    def __init__(self) -> None:
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, str(SERVING), str(ROOT / "analysis")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def perform(self, job: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a job, which may not be that it crashed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the warm process died"
        answer = json.loads(line)
        assert "crash" not in answer, answer["crash"]
        return answer

    def script(
        self, arguments: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """What `python ARGUMENTS` does in a folder; they are the path of a script or `-c`, and what follows.

        Of the environment, torch has read all but `TORCH_LOGS` already.
        """
        job = {"kind": "as python", "arguments": [*arguments], "folder": str(folder), "environment": environment or {}}
        answer = self.perform(job)
        return subprocess.CompletedProcess([*arguments], answer["status"], answer["output"], answer["errors"])

    def close(self) -> None:
        """End the process."""
        self._process.communicate(timeout=30)
