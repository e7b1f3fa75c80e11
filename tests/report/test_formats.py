"""Every output format: snapshots, and what its readers demand.

`UPDATE_SNAPSHOTS=1 pytest tests/report` rewrites the snapshots; read the difference before keeping it.
"""

from __future__ import annotations

import json
import os
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from nonstrict import __version__
from nonstrict.findings import Diagnostic, Location, Severity
from nonstrict.report.context import Context, Lines, renderer
from nonstrict.report.statistics import render_statistics
from nonstrict.rules.registry import RULES
from nonstrict.settings.model import FORMATS
from tests.report.samples import context, diagnostics

SNAPSHOTS = Path(__file__).parent / "snapshots"
SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))


def agrees_with_snapshot(name: str, text: str) -> None:
    path = SNAPSHOTS / f"{name}.txt"
    # Documentation and versions change without a change of the format.
    for rule in RULES.values():
        text = text.replace(json.dumps(rule.documentation), '"DOCUMENTATION"')
        text = text.replace(json.dumps(rule.summary), '"SUMMARY"')
    text = text.replace(__version__, "VERSION")
    text = re.sub(r"(?s)(<(style|script)>).*?(</\2>)", r"\1\2\3", re.sub(r"sha256-[\w+/=]+", "DIGEST", text))
    if os.environ.get("UPDATE_SNAPSHOTS"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", FORMATS)
def test_snapshot(name: str):
    agrees_with_snapshot(name, renderer(name)(diagnostics(), context()))


@pytest.mark.parametrize("name", FORMATS)
def test_snapshot_without_findings(name: str):
    agrees_with_snapshot(f"{name}-empty", renderer(name)([], context()))


@pytest.mark.parametrize("name", ["full", "concise", "grouped"])
def test_snapshot_in_colour(name: str):
    agrees_with_snapshot(f"{name}-colour", renderer(name)(diagnostics(), context(color=True)))


@pytest.mark.parametrize("name", FORMATS)
def test_files_that_are_gone_are_still_reported(name: str):
    text = renderer(name)(diagnostics(), Context(Lines({}), 1, directory="/project"))
    assert "NST101" in text


def test_counts_can_be_left_out():
    assert "Found" not in renderer("full")(diagnostics(), context(counts=False))
    assert renderer("concise")([], context(counts=False)) == ""


def test_statistics():
    found = [*diagnostics(), diagnostics()[1]]
    agrees_with_snapshot("statistics", render_statistics(found, context(), as_json=False))
    rows = json.loads(render_statistics(found, context(), as_json=True))
    head = {"code": "NST101", "name": "global-tensor-capture", "severity": "error", "count": 2}
    assert rows[0] == {**head, "fixable": 0}
    assert [row["fixable"] for row in rows] == [0, 0, 1]


def test_json_lines_hold_what_json_holds():
    lines = renderer("json-lines")(diagnostics(), context()).splitlines()
    assert [json.loads(line) for line in lines] == json.loads(renderer("json")(diagnostics(), context()))


def test_json_has_the_fields_that_users_rely_on():
    first, second, _ = json.loads(renderer("json")(diagnostics(), context()))
    assert first["cell"] == 2
    assert second["filename"] == "/project/src/model.py"
    assert second["location"] == {"row": 9, "column": 20}
    assert second["end_location"] == {"row": 9, "column": 25}
    assert second["url"].endswith("global-tensor-capture.md")
    assert second["fix"] == second["fixes"][0]
    assert (second["fix"]["applicability"], second["fix"]["message"]) == ("unsafe", "Pass `SCALE` as an argument")
    assert second["fix"]["edits"][0] == {
        "filename": "/project/lib/other.py",
        "cell": None,
        "content": ", SCALE",
        "location": {"row": 4, "column": 15},
        "end_location": {"row": 4, "column": 15},
    }
    assert first["fix"]["edits"][0]["cell"] == 2
    assert second["verdict"] is None


@pytest.mark.parametrize("name", ["concise", "pylint", "github", "azure"])
def test_a_finding_is_one_line(name: str):
    lines = renderer(name)(diagnostics(), context(counts=False)._replace(failures=())).splitlines()
    assert len(lines) == 3


def test_junit_is_xml():
    root = ET.fromstring(renderer("junit")(diagnostics(), context()))  # noqa: S314 - our own text
    assert root.get("failures") == "3"
    assert len(root.findall(".//failure")) == 3
    assert root.get("errors") == "1"
    assert [error.get("message") for error in root.findall(".//error")] == ["gone.py: does not exist"]


def run_of(found: list[Diagnostic]) -> dict[str, Any]:
    document = json.loads(renderer("sarif")(found, context()))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document["runs"][0]


@pytest.mark.parametrize("found", [diagnostics(), []], ids=["some", "none"])
def test_sarif_is_valid(found: list[Diagnostic]):
    run_of(found)


def test_the_schema_refuses_what_it_should():
    document = json.loads(renderer("sarif")(diagnostics(), context()))
    document["runs"][0]["results"][0]["level"] = "terrible"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_sarif_has_what_code_scanning_asks_for():
    run = run_of(diagnostics())
    assert "/" in run["automationDetails"]["id"]
    rules = run["tool"]["driver"]["rules"]
    for rule in rules:
        assert {"shortDescription", "fullDescription", "help", "helpUri", "properties"} <= set(rule)
        assert {"text", "markdown"} == set(rule["help"])
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        (location,) = result["locations"]
        assert set(location["physicalLocation"]["region"]) == {"startLine", "startColumn", "endLine", "endColumn"}
        assert not location["physicalLocation"]["artifactLocation"]["uri"].startswith(("/", "file:"))
    flow = run["results"][1]["codeFlows"][0]["threadFlows"][0]["locations"]
    assert flow[0]["location"]["message"]["text"] == "`scaled` is marked here"
    assert run["invocations"][0]["executionSuccessful"] is False


def texts(locations: list[dict[str, Any]]) -> list[str]:
    return [where.get("location", where)["message"]["text"] for where in locations]


def test_sarif_flows_lead_from_the_marker_to_the_expression():
    found = diagnostics()[1]
    marker, rebound = found.related
    calls = [marker._replace(message=f"`f{depth}` calls `f{depth + 1}` here") for depth in range(2)]
    deep = found._replace(related=(marker, *calls, rebound, rebound), links=3)
    (result,) = run_of([deep])["results"]
    assert len(result["relatedLocations"]) == 5
    (flow,) = result["codeFlows"]
    (thread,) = flow["threadFlows"]
    steps = thread["locations"]
    assert texts(steps) == [marker.message, "`f0` calls `f1` here", "`f1` calls `f2` here", found.message]
    assert [step["nestingLevel"] for step in steps] == [0, 0, 1, 2]
    assert [step["executionOrder"] for step in steps] == [1, 2, 3, 4]
    assert [step.get("importance") for step in steps] == [None, None, None, "essential"]
    assert steps[-1]["location"]["physicalLocation"] == result["locations"][0]["physicalLocation"]


def test_sarif_evidence_is_related_and_no_step():
    (result,) = run_of([diagnostics()[1]])["results"]
    assert texts(result["relatedLocations"]) == ["`scaled` is marked here", "rebound here"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert texts(steps) == ["`scaled` is marked here", diagnostics()[1].message]


def test_sarif_has_no_flow_without_a_marker():
    assert "codeFlows" not in run_of([diagnostics()[1]._replace(links=0)])["results"][0]
    assert "codeFlows" not in run_of([diagnostics()[2]])["results"][0]


def test_sarif_of_a_checked_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from nonstrict.cli.main import main

    (tmp_path / "settings.py").write_text("rate = 1.0\n")
    (tmp_path / "model.py").write_text(
        "import settings\nimport torch\n\n\ndef scaled(x):\n    return x * settings.rate\n\n\n"
        "@torch._dynamo.nonstrict_trace\ndef step(x):\n    return scaled(x)\n"
    )
    (tmp_path / "train.py").write_text("import settings\n\n\ndef start():\n    settings.rate = 2.0\n")
    monkeypatch.chdir(tmp_path)
    status = main(["check", "--output-format", "sarif", "--isolated", "--no-cache", "-o", "out.sarif"])
    assert status == 1
    document = json.loads((tmp_path / "out.sarif").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    (result,) = document["runs"][0]["results"]
    steps = result["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["location"]["physicalLocation"]["region"]["startLine"] for step in steps] == [9, 11, 6]
    (evidence,) = [where for where in result["relatedLocations"] if where["message"]["text"] == "rebound here"]
    assert evidence["physicalLocation"]["artifactLocation"]["uri"] == "train.py"


def test_sarif_names_files_by_uri():
    uri = run_of(diagnostics())["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri == {"uri": "a%20b%2Cc%25.ipynb", "uriBaseId": "%SRCROOT%"}
    outside = [diagnostics()[1]._replace(location=Location("/else where/x.py", 1, 1, 1, 2))]
    uri = run_of(outside)["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert uri == {"uri": "file:///else%20where/x.py"}


def test_fingerprints_follow_content_and_not_lines():
    from nonstrict.report.fingerprints import fingerprints
    from nonstrict.text.source import source_from_bytes

    def of(text: str, row: int) -> list[str]:
        source = source_from_bytes("a.py", text.encode())
        found = [Diagnostic("NST101", "n", Severity.ERROR, Location("a.py", row, 1, row, 2), "m", function="f")]
        return fingerprints(found * 2, Context(Lines({"a.py": source}), directory="/p"))

    first, second = of("x = W\n", 1)
    assert first != second
    assert of("\n\nx  =  W\n", 3) == [first, second]
    assert of("y = W\n", 1)[0] != first


@pytest.mark.parametrize(
    ("text", "location", "expected"),
    [
        ("a\tb = 日本\n", Location("f.py", 1, 7, 1, 9), "1 | a   b = 日本\n  |         ^^^^"),
        ("x\n", Location("f.py", 1, 2, 1, 2), "1 | x\n  |  ^"),
        ("x\n", Location("f.py", 1, 50, 1, 60), "1 | x\n  |  ^"),
        ("\x00\x1b[31m\n", Location("f.py", 1, 1, 1, 2), "1 | �[31m\n  | ^"),
        ("e\u0301x = 1\n", Location("f.py", 1, 3, 1, 4), "1 | e\u0301x = 1\n  |  ^"),
    ],
)
def test_frames(text: str, location: Location, expected: str):
    from nonstrict.report.frame import frame
    from nonstrict.report.style import Style
    from nonstrict.text.source import Source, SourceKind

    source = Source("f.py", SourceKind.PYTHON, text.replace("\x00", ""), text)
    lines = list(frame(location, Lines({"f.py": source}), Style(False), Severity.ERROR))
    assert "\n".join(lines[1:3]) == expected
