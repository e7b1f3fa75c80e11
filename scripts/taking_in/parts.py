"""The parts of what is known of a release of torch: how each is measured, and where what differs is kept."""

from __future__ import annotations

import json
import os
import subprocess
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from graph_breaks import writing as breaks
from guards import writing as guards

from nonstrict.knowledge import store
from nonstrict.knowledge.releases import file_name, neighbour, read_anew

if TYPE_CHECKING:
    from collections.abc import Callable

    from nonstrict.knowledge.releases import Release

SCRIPTS = Path(__file__).resolve().parents[1]
OPERATORS = "operators.json"


class Part(NamedTuple):
    """`measure(python, path, processes)` writes a whole table to a file, `keep(path, release)` keeps what differs."""

    measure: Callable[[str, Path, int | None], None]
    keep: Callable[[Path, Release], None]


def _measured(script: str, arguments: tuple[str, ...], python: str, path: Path, processes: int | None) -> None:
    """Run a script of measurements under an interpreter that has nothing but torch; it goes on where it stopped."""
    command = [python, str(SCRIPTS / script), "--output", str(path), "--journal", str(path.with_suffix(".jsonl"))]
    command += [*arguments, *(("--processes", str(processes)) if processes else ())]
    subprocess.run(command, check=True, env=_environment())


def _operators(python: str, path: Path, _: int | None) -> None:
    command = [python, str(SCRIPTS / "generate_operators.py"), "--floats", "--output", str(path)]
    subprocess.run(command, check=True, env=_environment())


def _environment() -> dict[str, str]:
    """Without the developer's packages, on one thread for each process."""
    return os.environ | {"PYTHONPATH": str(SCRIPTS.parent / "analysis"), "OMP_NUM_THREADS": "1"}


def _keep_difference(
    name: str,
    changes: Callable[[dict[str, Any], dict[str, Any]], str],
    whole: Callable[[Release], dict[str, Any]],
    path: Path,
    release: Release,
) -> None:
    """Write what a release says otherwise than the one that is the nearest on the way to the base."""
    _write(name, release, changes(json.loads(path.read_text(encoding="utf-8")), whole(neighbour(name, release))))


def _keep(name: str, path: Path, release: Release) -> None:
    """Keep a table that says by itself what differs: of graphs in pieces, from the whole graphs of the same release."""
    _write(name, release, path.read_text(encoding="utf-8"))


def _write(name: str, release: Release, text: str) -> None:
    Path(store.DATA, file_name(name, release)).write_text(text, encoding="utf-8")
    read_anew()


def _keep_nothing(path: Path, release: Release) -> None:
    """What operators do is asked without a release: the report says what differs, and which findings would."""


#: In the order in which they are measured: what a graph in pieces does is compared with whole ones.
PARTS = {
    "breaks": Part(
        partial(_measured, "generate_graph_breaks.py", ()),
        partial(_keep_difference, "graph_breaks", breaks.changes_text, breaks.whole),
    ),
    "pieces": Part(
        partial(_measured, "generate_graph_breaks.py", ("--pieces",)),
        partial(_keep, "graph_breaks_in_pieces"),
    ),
    "guards": Part(
        partial(_measured, "generate_guards.py", ()),
        partial(_keep_difference, "guards", guards.changes_text, guards.whole),
    ),
    "operators": Part(_operators, _keep_nothing),
}
