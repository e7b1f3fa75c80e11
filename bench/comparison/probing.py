"""Has torch run programs (`probe.py`), and reads what came out."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bench.comparison.model import Finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.comparison.model import Setting

PROBE = Path(__file__).with_name("probe.py")


class Outcome(NamedTuple):
    """What running a program in a mode shows."""

    results: list[object] | None
    error: str | None
    printed: str
    #: How often `torch.compile` was called; counted where a backend is chosen.
    regions: int
    graphs: int
    breaks: int
    recompilations: int
    findings: tuple[Finding, ...]


def environment(setting: Setting, **more: str) -> dict[str, str]:
    """The variables of a run: one thread, caches of its own, nothing from the network."""
    own = {"OMP_NUM_THREADS": "1", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    return {**os.environ, **own, "TORCHINDUCTOR_CACHE_DIR": str(setting.scratch / "inductor"), **more}


def probe(mode: str, programs: Sequence[Path], setting: Setting, **variables: str) -> dict[str, Outcome]:
    """What each program does in a mode, by its name."""
    command = [str(setting.python), "-W", "ignore", str(PROBE), mode, *map(str, programs)]
    run = subprocess.run(
        command, env=environment(setting, **variables), capture_output=True, encoding="utf-8", check=True
    )
    return {Path(entry["program"]).stem: _outcome(entry) for entry in map(json.loads, run.stdout.splitlines())}


def traces(programs: Sequence[Path], setting: Setting) -> Path:
    """A folder with torch's logs of a run of each program, in a folder of its name; made once."""
    folder = setting.scratch / "traces"
    if not folder.exists():
        folder.mkdir()
        probe("trace", programs, setting, TORCH_TRACE=str(folder))
    return folder


def _outcome(entry: dict[str, Any]) -> Outcome:
    name = Path(entry["program"]).stem
    found = [
        Finding(name, line, report["code"], report["message"])
        for report in entry.get("reports", [])
        for line in report["lines"] or [None]
    ]
    numbers = {key: entry.get(key, 0) for key in ("regions", "graphs", "breaks", "recompilations")}
    return Outcome(entry["results"], entry["error"], entry.get("printed", ""), findings=tuple(found), **numbers)


def command(mode: str, program: Path, setting: Setting) -> list[str]:
    """A run of one program in a mode, for a clock."""
    return [str(setting.python), "-W", "ignore", str(PROBE), mode, str(program)]
