"""What commands write as JSON is what the schemas say: nothing else, and nothing less."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

from nonstrict import schemas
from nonstrict.cli.main import main
from nonstrict.report.context import renderer
from nonstrict.report.statistics import render_statistics
from scripts import generate_schemas
from tests.confirm.runs.logs import MODEL, log_of_model
from tests.report.samples import context, diagnostics
from tests.report.test_verdicts import judged
from tests.schemas.validating import closed, mistakes, schema

if TYPE_CHECKING:
    from collections.abc import Callable

NAMES = schemas.names()
PROGRAM = """\
import torch

W = torch.ones(3)


@torch._dynamo.nonstrict_trace
def f(x):
    return x * W


@torch.compile
def g(x):
    print(x)
    return helper(x)


def helper(x):
    if x.sum() > 0:
        return x
    return unknown.call(x)


def passed(fn):
    return torch.compile(fn, mode="default", options={"max_autotune": flag})


passed(helper)(torch.ones(3))
g(f(torch.ones(3)))
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--output-format", "json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


# -- the files --------------------------------------------------------------------------------------------------------


def test_schemas_are_up_to_date():
    assert generate_schemas.stale(generate_schemas.texts()) == [], "run `make docs`"


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one(name: str):
    document = schema(name)
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"].endswith(f"/analysis/nonstrict/schemas/{name}.json")
    assert document["title"]
    assert document["description"]


@pytest.mark.parametrize("name", NAMES)
def test_the_command_shows_it(name: str, capsys: pytest.CaptureFixture[str]):
    assert main(["schema", name]) == 0
    assert capsys.readouterr().out == schemas.text_of(name)


def test_the_command_lists_them(capsys: pytest.CaptureFixture[str]):
    assert main(["schema"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == NAMES


def test_each_output_is_open_to_further_fields():
    """Readers hold what a later version writes against the schema of an earlier one."""
    for name in NAMES:
        if name != "settings":
            assert '"additionalProperties": false' not in schemas.text_of(name)
            assert closed(schema(name)) != schema(name)


# -- findings ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("found", [diagnostics(), judged(), []], ids=["some", "judged", "none"])
def test_findings(found: Any):
    assert mistakes("findings", json.loads(renderer("json")(found, context()))) == []
    lines = renderer("json-lines")(found, context()).splitlines()
    assert [mistake for line in lines for mistake in mistakes("finding", json.loads(line))] == []


@pytest.mark.parametrize("found", [diagnostics(), judged(), []], ids=["some", "judged", "none"])
def test_statistics(found: Any):
    assert mistakes("statistics", json.loads(render_statistics(found, context(), as_json=True))) == []


SNAPSHOTS = Path(__file__).resolve().parents[1] / "report" / "snapshots"
OURS = sorted([*SNAPSHOTS.glob("json*.txt"), *SNAPSHOTS.glob("verdicts-json*.txt")])


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.stem)
def test_snapshots(path: Path):
    text = path.read_text(encoding="utf-8")
    is_lines = "lines" in path.stem
    values = [json.loads(line) for line in text.splitlines()] if is_lines else [json.loads(text)]
    assert [one for value in values for one in mistakes("finding" if is_lines else "findings", value)] == []


def test_a_check(project: Path, capsys: pytest.CaptureFixture[str]):
    found = told(capsys, "check", "--no-cache")
    assert {one["code"] for one in found} >= {"NST101", "NST701"}
    assert mistakes("findings", found) == []
    assert mistakes("statistics", told(capsys, "check", "--no-cache", "--statistics")) == []
    (project / "nonstrict.toml").write_text("selct = []\n")
    assert main(["check", "--output-format", "json"]) == 2
    (mistake,) = invalid = json.loads(capsys.readouterr().out)
    assert (mistake["code"], mistakes("findings", invalid)) == ("NST903", [])


def test_the_examples(capsys: pytest.CaptureFixture[str]):
    examples = str(Path(__file__).resolve().parents[2] / "examples")
    found = told(capsys, "check", "--isolated", "--no-cache", examples)
    assert len(found) > 10
    assert mistakes("findings", found) == []
    assert mistakes("regions", told(capsys, "regions", "--isolated", examples)) == []


def test_what_runs_did(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "nonstrict.toml").write_text("")
    (project / "program.py").write_text(MODEL)
    log_of_model(project / "traces", "/scratch/job/program.py")
    assert main(["import", "traces", "--map", "/scratch/job=."]) == 0
    found = told(capsys, "check", "--no-cache")
    assert any(one["sighting"] for one in found)
    assert mistakes("findings", found) == []
    regions = told(capsys, "regions")
    assert any(one["observed"] for one in regions)
    assert mistakes("regions", regions) == []


def test_a_baseline(project: Path, capsys: pytest.CaptureFixture[str]):
    main(["check", "--write-baseline", "--no-cache"])
    written = json.loads((project / ".nonstrict-baseline.json").read_text())
    assert written["findings"]
    assert mistakes("baseline", written) == []
    assert capsys.readouterr().err == ""


def test_a_baseline_of_what_was_observed(tmp_path: Path):
    from nonstrict.check.baseline import Baseline, Entry

    path = tmp_path / "baseline.json"
    Baseline(str(path), (Entry("a.py", "NST701", "f", "m", "0", observed=True),)).write()
    assert mistakes("baseline", json.loads(path.read_text())) == []


# -- other commands ---------------------------------------------------------------------------------------------------


def test_regions(project: Path, capsys: pytest.CaptureFixture[str]):
    for option in ((), ("--graph",)):
        found = told(capsys, "regions", *option)
        assert len(found) > 1
        assert mistakes("regions", found) == []


@pytest.mark.parametrize("function", ["f", "helper", "passed"])
def test_audits(project: Path, capsys: pytest.CaptureFixture[str], function: str):
    assert mistakes("audit", told(capsys, "audit", f"program.py::{function}")) == []


def test_a_budget(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "nonstrict.toml").write_text(
        '[budget]\n"program.py::g" = { graphs = 1, recompilations = 3 }\n"gone" = { graphs = 1 }\n'
    )
    found = told(capsys, "budget")
    assert found["regions"]
    assert mistakes("budget", found) == []


@pytest.mark.torch
def test_experiments(project: Path, capsys: pytest.CaptureFixture[str]):
    (project / "program.py").write_text(PROGRAM.replace("passed(helper)(torch.ones(3))\n", ""))
    found = told(capsys, "confirm", "program.py", "--quiet", "--no-cache")
    assert {one["verdict"]["status"] for one in found["findings"]} >= {"confirmed"}
    assert found["regions"]
    assert mistakes("confirm", found) == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rule", ("rule", "NST101")),
        ("rules", ("rule", "--all")),
        ("config", ("config",)),
        ("config", ("config", "select")),
        ("version", ("version",)),
        ("explain", ("explain", "GB0059")),
    ],
)
def test_what_the_tool_says_of_itself(name: str, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]):
    assert mistakes(name, told(capsys, *arguments)) == []


def test_no_json_is_without_a_schema():
    """Each command that knows the format `json` is tried above."""
    from importlib import import_module

    from nonstrict.cli.main import COMMANDS
    from nonstrict.cli.parser import Parser

    writing: set[str] = set()
    for name, (module, _) in COMMANDS.items():
        parser = Parser(prog=name)
        import_module(f"nonstrict.cli.{module}").add_arguments(parser)
        actions = (one for one in parser._actions if "--output-format" in one.option_strings)
        writing |= {name for one in actions if one.choices and "json" in one.choices}
    assert writing == {"check", "audit", "confirm", "regions", "budget", "explain", "rule", "config", "version"}


def test_tools_of_the_model_context_protocol_answer_with_parts_of_the_json():
    """Their own schemas, which a client is shown, are made of classes that pick fields by name."""
    from nonstrict_mcp import answers

    assert set(answers.Finding.model_fields) < set(schema("finding")["$defs"]["Finding"]["properties"])
    assert set(answers.Rule.model_fields) == set(schema("rule")["$defs"]["Rule"]["properties"])
    audited = set(answers.Audited.model_fields) - {"failures"}
    assert audited == set(schema("audit")["$defs"]["Audit"]["properties"])
    explained = set(answers.Explained.model_fields) - {"failures"}
    assert explained == set(schema("explain")["$defs"]["Explained"]["properties"])
    confirmed = set(answers.Confirmed.model_fields) - {"failures", "left_out"}
    assert confirmed == set(schema("confirm")["$defs"]["Confirmed"]["properties"])


# -- what is broken ---------------------------------------------------------------------------------------------------


def without(name: str) -> Callable[[Any], None]:
    return lambda finding: finding.pop(name)


def given(name: str, value: object) -> Callable[[Any], None]:
    return lambda finding: finding.update({name: value})


@pytest.mark.parametrize(
    "spoil",
    [
        without("code"),
        without("verdict"),
        given("severity", "terrible"),
        given("location", {"row": 1}),
        given("location", [1, 2]),
        given("fixes", None),
        given("links", "1"),
        given("verdict", {"status": "confirmed"}),
        given("fingerprint", None),
        given("sighting", "yesterday"),
        lambda finding: finding["fixes"][0].update(applicability="sure"),
        lambda finding: finding["related"][0].pop("filename"),
    ],
)
def test_a_broken_finding_is_refused(spoil: Callable[[Any], None]):
    finding = json.loads(renderer("json")(diagnostics(), context()))[1]
    validator = jsonschema.Draft202012Validator(schema("finding"))
    validator.validate(finding)
    broken = copy.deepcopy(finding)
    spoil(broken)
    assert not validator.is_valid(broken)


def test_a_field_that_is_not_documented_is_seen():
    (first, *_) = json.loads(renderer("json")(diagnostics(), context()))
    assert mistakes("finding", {**first, "more": 1}) == [
        "$: Additional properties are not allowed ('more' was unexpected)"
    ]
    jsonschema.Draft202012Validator(schema("finding")).validate({**first, "more": 1})
