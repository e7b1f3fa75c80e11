"""Which measured tables answer for a release of torch: its own, else those of the nearest one that was measured.

`data/NAME.json` was measured with `BASE`. What another release says otherwise stands in `data/NAME-MAJOR.MINOR.json`,
as a difference from the table of the release that its `base` names. The files that lie there count: nothing registers
them.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from nonstrict.knowledge import store
from nonstrict.knowledge.torch_version import release_numbers

#: Major and minor: what is measured does not change between patches.
Release = tuple[int, int]
#: The release of which everything was measured. It is taken where no torch is found.
BASE: Release = (2, 13)
#: The tables that there are of releases: graph breaks with `fullgraph=True` and without, and guards.
TABLES = ("graph_breaks", "graph_breaks_in_pieces", "guards")


def release_of(version: str | None) -> Release:
    """The release of a version of torch: `2.14.0a0+git1` is (2, 14); `BASE` where that is no version."""
    numbers = release_numbers(version or "")
    return (numbers[0], numbers[1]) if len(numbers) > 1 else BASE


def shown(release: Release) -> str:
    """`2.13`."""
    return ".".join(map(str, release))


@cache
def measured(name: str) -> tuple[Release, ...]:
    """The releases that have a table, the oldest first."""
    beginning = f"{name}-"
    files = (file for file in os.listdir(store.DATA) if file.startswith(beginning) and file.endswith(".json"))
    return tuple(sorted({BASE, *(release_of(file.removeprefix(beginning)) for file in files)}))


@cache
def nearest(name: str, torch: Release) -> Release:
    """The release whose table answers for one: by the number of releases between them, the older of two as near."""
    return min(measured(name), key=lambda release: abs(_number(release) - _number(torch)))


@cache
def table(name: str, torch: Release) -> dict[str, Any]:
    """The table of the nearest release, which says of others than `BASE` what differs from the one that it names."""
    return store.data_file(file_name(name, nearest(name, torch)))


@cache
def tables(name: str, torch: Release) -> tuple[dict[str, Any], ...]:
    """The tables that hold for a release: of the nearest one, then those that it differs from, to that of `BASE`."""
    own = table(name, torch)
    return (own, *tables(name, release_of(own["base"]))) if "base" in own else (own,)


def neighbour(name: str, torch: Release) -> Release:
    """The nearest other release on the way to `BASE` that was measured: from its table that of `torch` differs."""
    low, high = min(torch, BASE), max(torch, BASE)
    between = [release for release in measured(name) if low <= release <= high and release != torch]
    return min(between, key=lambda release: abs(_number(release) - _number(torch)))


def answering(version: str | None) -> tuple[Release, ...]:
    """The other releases whose tables answer for a version of torch; empty where it was measured itself, or is none."""
    torch = release_of(version)
    return tuple(sorted({nearest(name, torch) for name in TABLES} - {torch}))


def read_anew() -> None:
    """Forget what was read, for those who write tables."""
    for cached in (store.data_file, measured, nearest, table, tables):
        cached.cache_clear()


def _number(release: Release) -> int:
    return 100 * release[0] + release[1]


def file_name(name: str, release: Release) -> str:
    """The file that a table of a release is kept in."""
    return f"{name}.json" if release == BASE else f"{name}-{shown(release)}.json"
