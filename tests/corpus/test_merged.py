"""Cases of the corpus, three to a function, in a real sandbox: each finding is judged although others are in its way.

By default every third of these programs is tried; with NONSTRICT_CORPUS=all, all of them (some minutes).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.corpus.merging import merged, part_of
from tests.corpus.score import labels_of

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = Path(__file__).parent / "cases"
STEP = 1 if os.environ.get("NONSTRICT_CORPUS") == "all" else 3
#: The most findings without a verdict, as a share of those that the cases are labelled with.
UNDECIDED = 0.15

pytestmark = pytest.mark.torch


class Judged(NamedTuple):
    """A finding that a case is labelled with, and its verdict among those of other cases."""

    case: str
    code: str
    truth: frozenset[str]
    verdict: dict[str, Any]


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> list[Judged]:
    folder = tmp_path_factory.mktemp("merged")
    parts = [part for path in sorted(CASES.glob("*.py")) if (part := part_of(path)) is not None]
    origins: dict[str, dict[int, Path]] = {}
    threes = [parts[first : first + 3] for first in range(0, len(parts), 3)]
    for number, three in enumerate(threes[::STEP]):
        one = merged(three)
        (folder / f"merged_{number}.py").write_text(one.text)
        origins[f"merged_{number}.py"] = one.origins
    arguments = ["check", "--confirm", "--output-format", "json", "--no-cache", "--isolated", str(folder)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    return list(_labelled(json.loads(run.stdout), origins))


def _labelled(findings: list[dict[str, Any]], origins: dict[str, dict[int, Path]]) -> Iterator[Judged]:
    for finding in findings:
        assert finding["code"] != "NST900", finding
        name, row = Path(str(finding["filename"])).name, finding["location"]["row"]
        case = origins[name].get(row)
        if case is None or finding["verdict"] is None:
            continue
        expected, _, truth = labels_of(case)
        if any(finding["code"] in codes for codes in expected.values()):
            yield Judged(case.name, str(finding["code"]), frozenset(truth.values()), finding["verdict"])


def test_no_verdict_is_wrong(judged: list[Judged]) -> None:
    assert len(judged) > 8
    confirmed = [one for one in judged if one.verdict["status"] == "confirmed" and one.truth == frozenset({"same"})]
    refuted = [one for one in judged if one.verdict["status"] == "refuted" and "same" not in one.truth]
    assert not confirmed + refuted


def test_most_findings_have_a_verdict(judged: list[Judged]) -> None:
    undecided = [one for one in judged if one.verdict["status"] == "inconclusive"]
    assert len(undecided) <= UNDECIDED * len(judged), undecided
