"""Runs programs of the tests with torch: plain, or compiled with a backend."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: By job: what the program printed (`output`), and the exception that ended it (`error`).
Results = dict[str, dict[str, str]]
SECONDS = 120
#: Graphs are not taken from earlier runs: what an operator declares is no part of their key.
ENVIRONMENT = {
    "TORCHINDUCTOR_COMPILE_THREADS": "1",
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
}


#: The caches are there, and empty: for what they do wrong.
CACHES = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "1", "TORCHINDUCTOR_AUTOGRAD_CACHE": "1"}


def ran(jobs: Sequence[tuple[str, str, str]], caches: Path | None = None) -> Results:
    """Run programs, given as (id of the job, source, backend), in one process that has imported torch.

    With `caches`, an empty folder, Inductor and AOTAutograd keep their graphs there.
    """
    kept = {**CACHES, "TORCHINDUCTOR_CACHE_DIR": str(caches)} if caches is not None else {}
    described = [
        {"id": name, "source": source, "backend": backend, "seconds": SECONDS} for name, source, backend in jobs
    ]
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_programs.py"))],
        input=json.dumps(described),
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * (len(jobs) + 1),
        env={**os.environ, **ENVIRONMENT, **kept},
    )
    assert run.returncode == 0, run.stderr[-2000:]
    return json.loads(run.stdout)
