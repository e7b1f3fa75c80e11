"""The labelled corpus: what the command line finds in it, rule by rule, may not fall below what it has reached.

Labels and how they count are those of score.py, which scores any command line on the same files.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.conftest import SCORE
from tests.corpus.score import labels_of

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).parent / "cases"
FILES = sorted(CASES.glob("*.py"))
RULES = [
    *(f"NST10{digit}" for digit in "1234567"),
    *(f"NST20{digit}" for digit in "123456789"),
    *("NST210", "NST211", "NST301", "NST302", "NST401", "NST402", "NST403"),
    *(f"NST50{digit}" for digit in "123456789"),
    *(f"NST60{digit}" for digit in "123456789"),
    *("NST610", "NST611", "NST701", "NST702", "NST901", "NST902"),
]
#: The share of the expected findings that are reported, and of the reported ones (above `note`) that are labelled.
RECALL_FLOOR = 1.0
PRECISION_FLOOR = 1.0


class Place(NamedTuple):
    """A rule's finding, or the label that asks for one."""

    code: str
    file: str
    row: int


class Score(NamedTuple):
    """The places that labels expect, those of them that are reported, and reports above `note` without a label."""

    expected: frozenset[Place]
    found: frozenset[Place]
    spurious: frozenset[Place]

    def of(self, code: str) -> Score:
        """The part of one rule."""
        return Score(*(frozenset(place for place in places if place.code == code) for places in self))

    @property
    def recall(self) -> float:
        """1.0 where nothing is expected."""
        return len(self.found) / len(self.expected) if self.expected else 1.0

    @property
    def precision(self) -> float:
        """1.0 where nothing is reported."""
        reported = len(self.found) + len(self.spurious)
        return len(self.found) / reported if reported else 1.0


@pytest.fixture(scope="session")
def score() -> Score:
    arguments = ["check", "--output-format", "json", "--no-cache", "--isolated", str(CASES)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    reported: set[Place] = set()
    grave: set[Place] = set()
    for finding in json.loads(run.stdout):
        place = Place(finding["code"], Path(finding["filename"]).name, finding["location"]["row"])
        reported.add(place)
        if finding["severity"] != "note":
            grave.add(place)
    expected: set[Place] = set()
    labelled: set[Place] = set()
    for path in FILES:
        wanted, allowed, _ = labels_of(path)
        asked = {Place(code, path.name, row) for row, codes in wanted.items() for code in codes}
        free = {Place(code, path.name, row) for row, codes in allowed.items() for code in codes}
        expected |= asked
        labelled |= asked | free
    return Score(frozenset(expected), frozenset(expected & reported), frozenset(grave - labelled))


@pytest.mark.parametrize("code", RULES)
def test_rule(code: str, score: Score, record_property: Callable[[str, object], None]) -> None:
    own = score.of(code)
    record_property(SCORE, [code, len(own.expected), len(own.found), len(own.spurious)])
    told = [
        *(f"missed   {file}:{row}" for _, file, row in sorted(own.expected - own.found)),
        *(f"spurious {file}:{row}" for _, file, row in sorted(own.spurious)),
    ]
    assert own.recall >= RECALL_FLOOR, "\n".join(told)
    assert own.precision >= PRECISION_FLOOR, "\n".join(told)


def test_the_corpus_is_whole(score: Score) -> None:
    assert len(FILES) == 233
    assert len([place for place in score.expected if place.code in RULES]) == 139


def test_the_score_program_runs_our_command_line(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    program = [sys.executable, str(CASES.parent / "score.py"), "--nonstrict", f"{sys.executable} -m nonstrict"]
    run = subprocess.run(
        [*program, "--rules", ",".join(RULES), "--json", str(figures), str(CASES)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert json.loads(figures.read_text())["files"] == len(FILES)
