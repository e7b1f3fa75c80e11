"""The labelled cases of the tests: how many of their hazards the tools report that only read the source.

The labels (`tests/corpus/README.md`) say what a compile of each case does, and which lines have to be reported.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests.corpus.score import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.comparison.model import Finding

FOLDER = Path(__file__).parents[2] / "tests" / "corpus" / "cases"


class Count(NamedTuple):
    """Labelled lines that a tool reports, and files without a hazard in which it reports one."""

    lines: int
    files: int


def files() -> list[Path]:
    """The cases."""
    return sorted(FOLDER.glob("*.py"))


def labelled() -> dict[str, set[int]]:
    """The lines that are to be reported, by case; cases where none is have an empty set."""
    return {path.stem: set(labels_of(path)[0]) for path in files()}


def allowed() -> dict[str, set[int]]:
    """The lines at which a report is neither asked for nor wrong, by case."""
    return {path.stem: set(labels_of(path)[1]) for path in files()}


def counted(findings: Iterable[Finding], hazards: frozenset[str], touching: frozenset[str]) -> Count:
    """What findings come to: codes of hazards count for lines and, above notes, for files; others for lines."""
    lines, free = labelled(), allowed()
    hits = {(one.program, one.line) for one in findings if one.code in hazards | touching}
    alarms = {
        one.program
        for one in findings
        if one.code in hazards and not one.note and not lines[one.program] and one.line not in free[one.program]
    }
    return Count(sum(line in lines[name] for name, line in hits), len(alarms))


def outcomes() -> dict[str, int]:
    """How many cases the default backend refuses, gets wrong or gets right, as their labels say."""
    return dict(sorted(Counter(labels_of(path)[2]["inductor"] for path in files()).items()))
