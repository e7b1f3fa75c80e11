"""The labelled corpus in a real sandbox: verdicts agree with what a compile of each case was seen to do.

By default every third case is tried; with NONSTRICT_CORPUS=all, all of them (some minutes).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.corpus.score import labels_of

if TYPE_CHECKING:
    from collections.abc import Callable

CASES = Path(__file__).parent / "cases"
STEP = 1 if os.environ.get("NONSTRICT_CORPUS") == "all" else 3
#: Reasons that say that no inputs led to the line of a finding.
UNREACHED = {"inputs", "load", "line-not-reached"}
#: The least share of the findings with an experiment that come to a verdict, and whose line some inputs reach.
DECIDED_FLOOR, REACHED_FLOOR = 0.95, 0.95

pytestmark = pytest.mark.torch


class Case(NamedTuple):
    """A finding with a verdict: what its file was seen to do by backend, and whether its line is labelled."""

    where: str
    code: str
    truth: dict[str, str]
    expected: bool
    verdict: dict[str, object]

    def __str__(self) -> str:
        return f"{self.where} {self.code}: {self.verdict['status']} {self.verdict['evidence']}, seen: {self.truth}"


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    folder = tmp_path_factory.mktemp("cases")
    for path in sorted(CASES.glob("*.py"))[::STEP]:
        shutil.copy(path, folder)
    arguments = ["check", "--confirm", "--output-format", "json", "--no-cache", "--isolated", str(folder)]
    run = subprocess.run([sys.executable, "-m", "nonstrict", *arguments], capture_output=True, text=True, check=False)
    assert run.returncode in (0, 1), run.stderr
    found: list[Case] = []
    for finding in json.loads(run.stdout):
        expected, _, truth = labels_of(Path(finding["filename"]))
        row, name = finding["location"]["row"], Path(finding["filename"]).name
        assert finding["code"] != "NST900", finding
        if finding["verdict"] is not None and truth:
            labelled = finding["code"] in expected.get(row, ())
            found.append(Case(f"{name}:{row}", finding["code"], truth, labelled, finding["verdict"]))
    assert len(found) > 40
    return found


def told(cases: list[Case]) -> str:
    return "\n".join(map(str, cases))


def test_no_verdict_is_wrong(cases: list[Case]) -> None:
    # What the files were seen to do is about results, not about how often they are compiled.
    about_results = [case for case in cases if case.code not in {"NST803", "NST804"}]
    harmless = [case for case in about_results if set(case.truth.values()) == {"same"}]
    harmful = [case for case in cases if "same" not in case.truth.values() and case.expected]
    wrong = [case for case in harmless if case.verdict["status"] == "confirmed"]
    wrong += [case for case in harmful if case.verdict["status"] == "refuted"]
    assert not wrong, told(wrong)
    assert harmless
    assert harmful


def test_each_backend_does_what_it_was_seen_to_do(cases: list[Case]) -> None:
    wrong: list[Case] = []
    for case in cases:
        backends = case.verdict["backends"]
        assert isinstance(backends, dict)
        results = {name: told["result"] for name, told in backends.items()}
        ran = {name: result for name, result in results.items() if name in case.truth and result != "not-run"}
        if any((result == "same") != (case.truth[name] == "same") for name, result in ran.items()):
            wrong.append(case)
    # A harmless line in a file that goes wrong for another reason is no contradiction.
    wrong = [case for case in wrong if case.expected]
    assert not wrong, told(wrong)


def test_nearly_every_hazard_gets_a_verdict(cases: list[Case], record_property: Callable[[str, object], None]) -> None:
    hazards = [case for case in cases if case.expected]
    reasons = Counter(str(case.verdict["reason"]) for case in hazards if case.verdict["status"] == "inconclusive")
    record_property("inconclusive", dict(reasons))
    decided = 1 - reasons.total() / len(hazards)
    reached = 1 - sum(count for reason, count in reasons.items() if reason in UNREACHED) / len(hazards)
    assert decided >= DECIDED_FLOOR, reasons
    assert reached >= REACHED_FLOOR, reasons
