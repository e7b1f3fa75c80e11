"""What torch captures in CUDA graphs and what it leaves out: every answer was measured (`data/cuda_graphs.json`).

`scripts/generate_cuda_graphs.py` makes the file with the torch that it names; `scripts/cuda_graphs` has the program of
each row. Keys are `GROUP/NAME`: `changed in place/argument`.
"""

from __future__ import annotations

from typing import NamedTuple

from nonstrict.knowledge.store import data_file

_INDUCTOR = "inductor"
_TABLE = "cuda_graphs.json"


class Captured(NamedTuple):
    """What became of a program: how many CUDA graphs were `recorded`.

    `apart` are the reasons why operators were left out of them, `skipped` those why a whole graph was, as torch words
    them.
    """

    recorded: int
    apart: tuple[str, ...]
    skipped: tuple[str, ...]


def captured(group: str, name: str, backend: str = _INDUCTOR) -> Captured | None:
    """What became of a program with a backend; None if that was not measured."""
    told = group if backend == _INDUCTOR else f'{group}, backend="{backend}"'
    row = data_file(_TABLE)["rows"].get(f"{told}/{name}")
    return Captured(row[0], tuple(row[1]), tuple(row[2])) if row is not None else None


def reasons(group: str, name: str = "") -> frozenset[str]:
    """How the reasons begin that torch gave for a program of a group, or for any of it, with whatever backend."""
    rows = data_file(_TABLE)["rows"]
    own = [row for key, row in rows.items() if _is_of(key, group, name)]
    return frozenset(reason.partition(":")[0] for row in own for reason in (*row[1], *row[2]))


def _is_of(key: str, group: str, name: str) -> bool:
    told, _, row = key.partition("/")
    return told.partition(", backend=")[0] == group and name in ("", row)


def sizes() -> int:
    """How many values each program of the group `varies` had."""
    return int(data_file(_TABLE)["sizes"])


def is_asked_for(options: str) -> bool:
    """Whether `torch.compile` with an option, as written, records CUDA graphs: `mode="reduce-overhead"`."""
    found = captured("options", options)
    return found is not None and found.recorded > 0


def is_skipped(place: str, backend: str = _INDUCTOR) -> bool:
    """Whether torch runs a region without CUDA graphs that changes in place a tensor which lives at such a place."""
    found = captured("changed in place", place, backend)
    return found is not None and bool(found.skipped)


def is_recorded_for_each(kind: str, backend: str = _INDUCTOR) -> bool:
    """Whether a CUDA graph is recorded for each value of what varies, although the region is not compiled for each."""
    found = captured("varies", kind, backend)
    return found is not None and found.recorded >= sizes()
