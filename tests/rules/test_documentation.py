"""The documentation of every rule: its shape, its metadata, and its examples, which are checked as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import nonstrict.rules
from nonstrict.rules.registry import RULES
from tests.rules.examples import HEADINGS, Example, examples
from tests.suites.cases import problems

_EXAMPLES = examples()
_FOLDER = Path(nonstrict.rules.__path__[0])
#: Rules of which only a compile can tell: tests/confirm runs their examples.
_SEEN_IN_EXPERIMENTS = {"NST900"}
#: What no code can show: faults of nonstrict (tests/check/test_faults.py).
_NEVER_SEEN = {"NST904"}


@pytest.mark.parametrize("code", RULES)
def test_page_has_the_fixed_shape(code: str) -> None:
    rule = RULES[code]
    lines = rule.documentation.split("\n")
    assert lines[0] == f"# {rule.name} ({code})"
    assert [line[3:] for line in lines if line.startswith("## ")] == HEADINGS
    sections = re.split(r"^## .*\n", rule.documentation, flags=re.MULTILINE)
    assert all(section.strip() for section in sections)


@pytest.mark.parametrize("code", RULES)
def test_metadata(code: str) -> None:
    rule = RULES[code]
    assert rule.code == code
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert rule.summary.endswith(".")
    assert "\n" not in rule.summary
    assert (rule.examine is None) == (not rule.markers) == code.startswith("NST9")
    assert rule.url.endswith(f"/{rule.name}.md")


def test_every_file_is_registered() -> None:
    written = {path.stem for path in _FOLDER.glob("nst*.py")}
    registered = {f"{rule.code.lower()}_{rule.name.replace('-', '_')}" for rule in RULES.values()}
    assert registered == written
    assert list(RULES) == sorted(RULES)
    assert len({rule.name for rule in RULES.values()}) == len(RULES)


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda example: example.name)
def test_example_is_marked(example: Example) -> None:
    codes = {expected.code for expected in example.case.expectations}
    assert example.case.files
    silent = example.good or example.code in _SEEN_IN_EXPERIMENTS | _NEVER_SEEN
    assert codes == (set() if silent else {example.code})


@pytest.mark.parametrize("example", _EXAMPLES, ids=lambda example: example.name)
def test_example_is_reported_as_marked(example: Example, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    told = problems(example.case, project)
    assert not told, "\n".join(told)
