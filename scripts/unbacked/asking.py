"""What `nonstrict check` says about marked functions."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from unbacked.bodies import Body


def reported(bodies: Sequence[Body]) -> list[list[str]]:
    """For each body the errors that are found, as codes and messages."""
    with tempfile.TemporaryDirectory() as folder:
        for index, body in enumerate(bodies):
            Path(folder, f"body{index}.py").write_text(body.program(), encoding="utf-8")
        options = ["--no-cache", "--isolated", "--torch-version", "2.13", "--output-format", "json"]
        command = [sys.executable, "-m", "nonstrict", "check", *options, folder]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode not in (0, 1):
        raise RuntimeError(run.stderr)
    found = [list[str]() for _ in bodies]
    for finding in json.loads(run.stdout):
        if finding["severity"] == "error":
            index = int(Path(finding["filename"]).stem.removeprefix("body"))
            found[index].append(f"{finding['code']}: {finding['message']}")
    return found
