"""Verdicts in every output format.

`UPDATE_SNAPSHOTS=1 pytest tests/report` rewrites the snapshots; read the difference before keeping it.
"""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from nonstrict.findings import Diagnostic, Outcome, Severity, Status, Verdict
from nonstrict.report.context import renderer
from nonstrict.report.statistics import render_statistics
from nonstrict.report.verdicts import REASONS, brief, details, sentence, tag
from nonstrict.settings.model import FORMATS
from tests.report.samples import context, diagnostics
from tests.report.test_formats import agrees_with_snapshot, run_of

CONFIRMED = Verdict(
    Status.CONFIRMED,
    evidence="eager 4.0, compiled 3.0 after `SCALE` was set from 2 to 3",
    outcomes=(Outcome("aot_eager", "silent-wrong"), Outcome("inductor", "error", "Unsupported: <x> & y")),
    torch="2.13.0",
    python="3.11.2",
    device="cpu",
    seconds=0.914,
    repro=".nonstrict/repro/scaled.py",
    files=("would write runs/log.txt", "would delete a.pt"),
    driver="`main()`",
    source="program",
    inputs=("x: tensor float32 [2, 3]",),
)
REFUTED = Verdict(
    Status.REFUTED,
    outcomes=(Outcome("aot_eager", "same"), Outcome("inductor", "same")),
    torch="2.13.0",
    python="3.11.2",
    device="cpu",
    seconds=1.26,
)
NO_INPUTS = Verdict(Status.INCONCLUSIVE, "inputs", torch="2.13.0", device="cpu", seconds=0.2)
EAGER_RAISES = Verdict(Status.INCONCLUSIVE, "eager-raises", "ValueError: 100%\nx must be\tpositive", torch="2.13.0")


def judged() -> list[Diagnostic]:
    """A finding for each status, one of them without a function, and one that nobody tried."""
    show, scaled, unused = diagnostics()
    return [
        show._replace(verdict=REFUTED, severity=Severity.NOTE),
        scaled._replace(verdict=CONFIRMED),
        scaled._replace(verdict=NO_INPUTS),
        unused._replace(verdict=EAGER_RAISES),
        scaled,
    ]


@pytest.mark.parametrize("name", FORMATS)
def test_snapshot(name: str):
    agrees_with_snapshot(f"verdicts-{name}", renderer(name)(judged(), context()))


def test_snapshot_of_statistics():
    agrees_with_snapshot("verdicts-statistics", render_statistics(judged(), context(), as_json=False))
    rows = json.loads(render_statistics(judged(), context(), as_json=True))
    assert rows[0]["verdicts"] == {"confirmed": 1, "inconclusive": 1}
    assert rows[0]["count"] == 3


def test_statistics_without_experiments_have_no_verdicts():
    rows = json.loads(render_statistics(diagnostics(), context(), as_json=True))
    assert all("verdicts" not in row for row in rows)


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_tells_every_verdict(name: str):
    text = renderer(name)(judged(), context())
    for word in ("confirmed", "refuted", "inconclusive"):
        assert word in text


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_speaks_of_verdicts_where_there_are_none(name: str):
    text = re.sub(r"(?s)<(style|script)>.*?</\1>", "", renderer(name)(diagnostics(), context()))
    assert not re.search("confirmed|refuted|inconclusive|without experiment", text)


@pytest.mark.parametrize("name", ["concise", "pylint", "github", "azure"])
def test_a_finding_with_a_verdict_is_one_line(name: str):
    assert len(renderer(name)(judged(), context(counts=False)._replace(failures=())).splitlines()) == len(judged())


def test_counts():
    text = renderer("full")(judged(), context())
    assert "\n5 findings: 1 confirmed, 1 refuted, 2 inconclusive, 1 without experiment.\n" in text
    assert "\n1 finding: 1 confirmed.\n" in renderer("concise")(judged()[1:2], context())
    assert "1 confirmed" not in renderer("concise")(judged(), context(counts=False))


def test_json_holds_the_verdict():
    refuted, confirmed, no_inputs, _, untried = json.loads(renderer("json")(judged(), context()))
    assert confirmed["verdict"] == {
        "status": "confirmed",
        "reason": None,
        "backends": {
            "aot_eager": {"result": "silent-wrong", "detail": None},
            "inductor": {"result": "error", "detail": "Unsupported: <x> & y"},
        },
        "evidence": CONFIRMED.evidence,
        "torch": "2.13.0",
        "python": "3.11.2",
        "device": "cpu",
        "seconds": 0.914,
        "repro": ".nonstrict/repro/scaled.py",
        "files": ["would write runs/log.txt", "would delete a.pt"],
        "driver": "`main()`",
        "source": "program",
        "inputs": ["x: tensor float32 [2, 3]"],
    }
    assert refuted["severity"] == "note"
    assert (no_inputs["verdict"]["status"], no_inputs["verdict"]["reason"]) == ("inconclusive", "inputs")
    assert untried["verdict"] is None
    lines = renderer("json-lines")(judged(), context()).splitlines()
    assert [json.loads(line)["verdict"] for line in lines][1] == confirmed["verdict"]


def sarif(found: list[Diagnostic]) -> dict[str, Any]:
    """The run, valid against the schema of the standard."""
    return run_of(found)


def test_sarif_ranks_by_verdict_and_hides_nothing():
    results = sarif(judged())["results"]
    assert [result.get("rank") for result in results] == [10.0, 100.0, 50.0, 50.0, None]
    # A kind other than `fail` demands the level `none`, and such results are not shown.
    assert all("kind" not in result and result["level"] != "none" for result in results)
    assert results[1]["properties"]["verdict"]["status"] == "confirmed"
    assert "confirmed on torch 2.13.0 / cpu / aot_eager, inductor in 0.9 s" in results[1]["message"]["text"]


def test_sarif_is_most_precise_where_all_findings_of_a_rule_are_confirmed():
    def precision(found: list[Diagnostic]) -> str:
        return sarif(found)["tool"]["driver"]["rules"][0]["properties"]["precision"]

    confirmed, no_inputs = judged()[1:3]
    assert precision([confirmed]) == "very-high"
    assert precision([confirmed, no_inputs]) == "high"
    assert precision([confirmed._replace(verdict=None)]) == "high"


def test_sarif_follows_a_finding_whatever_its_verdict():
    def fingerprint(found: Diagnostic) -> object:
        return sarif([found])["results"][0]["partialFingerprints"]

    confirmed, _, _, untried = judged()[1:]
    assert fingerprint(confirmed) == fingerprint(untried)


def test_junit_with_verdicts_is_xml():
    root = ET.fromstring(renderer("junit")(judged(), context()))  # noqa: S314 - our own text
    texts = [failure.text or "" for failure in root.findall(".//failure")]
    assert "inductor: error (Unsupported: <x> & y)" in texts[1].splitlines()[5]


def test_every_reason_has_its_sentence():
    for reason in REASONS:
        text = sentence(Verdict(Status.INCONCLUSIVE, reason), "Net.forward")
        assert text.startswith("inconclusive: ")
        assert "{" not in text
        assert "  " not in text
    assert "no inputs were found for `f`: provide some with `# nonstrict: inputs(...)`" in sentence(NO_INPUTS, "f")
    assert "the function" in sentence(NO_INPUTS, "")


def test_a_reason_that_is_not_known_is_still_said():
    verdict = Verdict(Status.INCONCLUSIVE, "from-the-future")
    assert tag(verdict) == "inconclusive: unknown reason"
    assert "report this as a bug" in sentence(verdict, "f")


def test_a_verdict_names_the_backends_that_speak_for_it():
    mixed = CONFIRMED._replace(outcomes=(Outcome("aot_eager", "effect-lost"), Outcome("inductor", "same")))
    assert "2.13.0 / cpu / aot_eager in" in sentence(mixed, "f")
    assert next(details(mixed)) == "aot_eager: effect lost; inductor: same as eager"
    assert not list(details(REFUTED))
    assert sentence(Verdict(Status.CONFIRMED), "f") == "confirmed"
    assert sentence(Verdict(Status.REFUTED), "f").startswith("refuted: the reported code ran")


def test_what_fits_behind_a_line_of_code():
    assert brief(CONFIRMED) == CONFIRMED.evidence
    assert brief(REFUTED) == ""
    assert brief(REFUTED._replace(evidence="2 calls on inductor agree with eager")).startswith("2 calls")
    assert brief(EAGER_RAISES) == "eager raises"
    assert brief(CONFIRMED._replace(evidence="one\n  two")) == "one two"
    long = brief(CONFIRMED._replace(evidence="word " * 50))
    assert len(long) == 100
    assert long.endswith(("word…", "wor…", "wo…", "w…"))
