"""What nonstrict is meant to reach beside other tools, and whether it does."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from bench.peers.corpora import DENSE, DENSE_LONG, DENSE_SHORT, TORCH
from bench.peers.tools import CLONE, COLD, EDIT, OURS

if TYPE_CHECKING:
    from collections.abc import Callable

    from bench.peers.results import Results


class Target(NamedTuple):
    """A figure, what it is divided by (none: it counts by itself), and the most that it may be."""

    what: str
    beside: str
    most: float
    unit: str
    figure: Callable[[Results], float | None]
    base: Callable[[Results], float | None] | None = None

    def value(self, results: Results) -> float | None:
        """The ratio or the figure; None if it was not measured."""
        figure = self.figure(results)
        if figure is None or self.base is None:
            return figure
        base = self.base(results)
        return figure / base if base else None

    def met(self, results: Results) -> bool | None:
        """Whether it is reached, judged by what was measured and not by how the page rounds it."""
        value = self.value(results)
        return None if value is None else value <= self.most


def _command(corpus: str, tool: str, doing: str = COLD, figure: str = "cpu_s") -> Callable[[Results], float | None]:
    def read(results: Results) -> float | None:
        row = results.command(corpus, tool, doing)
        return row[figure] if row else None

    return read


def _p95(file: str, tool: str) -> Callable[[Results], float | None]:
    def read(results: Results) -> float | None:
        row = results.server(file, tool)
        return row["p95_ms"] if row else None

    return read


def _beside(corpus: str, tool: str, most: float, told: str) -> Target:
    return Target(f"{corpus}, cold", told, most, "x", _command(corpus, OURS), _command(corpus, tool))


def _again(corpus: str, doing: str, most: float) -> Target:
    cold = _command(corpus, OURS)
    return Target(f"{corpus}, {doing}", "its own cold check", most, "x", _command(corpus, OURS, doing), cold)


def _key(file: str, most: float) -> Target:
    return Target(f"{file}, an edit, p95", "ruff's server", most, "x", _p95(file, OURS), _p95(file, "ruff"))


TARGETS = (
    _beside(TORCH, "ruff F", 4, "`ruff check --select F`"),
    _beside(TORCH, "ty", 0.15, "`ty check`"),
    _beside(DENSE, "ruff ALL", 4, "`ruff check --select ALL`"),
    _again(TORCH, EDIT, 0.15),
    _again(DENSE, EDIT, 0.15),
    _again(TORCH, CLONE, 0.1),
    _again(DENSE, CLONE, 0.1),
    Target(f"{TORCH}, cold, private memory", "", 250, " MB", _command(TORCH, OURS, COLD, "private_mb")),
    _key(DENSE_SHORT, 5),
    _key(DENSE_LONG, 1.2),
)
