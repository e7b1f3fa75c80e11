"""What the adapters of command-line tools share."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.comparison.model import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence


def output(command: Sequence[str | Path], accepted: Sequence[int] = (0,)) -> str:
    """What a command prints; raises RuntimeError for an exit status that is not accepted."""
    run = subprocess.run([*map(str, command)], capture_output=True, encoding="utf-8", check=False)
    if run.returncode not in accepted:
        raise RuntimeError(f"{command[0]}: exit status {run.returncode}: {run.stderr.strip()[-500:]}")
    return run.stdout


def finding(one: dict[str, Any]) -> Finding:
    """A finding in the form of JSON that nonstrict and ruff share."""
    return Finding(
        Path(one["filename"]).stem, one["location"]["row"], one["code"], one["message"], one.get("severity") == "note"
    )


def version_of(package: str, python: Path) -> str:
    """The version of a package in the environment of an interpreter."""
    program = f"import importlib.metadata as m; print(m.version({package!r}))"
    return output([python, "-c", program]).strip()
