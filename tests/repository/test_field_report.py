"""What docs/field-report.md says of its findings in sum is what its tables say one by one."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "field-report.md"
FINDINGS = re.compile(r"(\d+) (NST\d+)")


@cache
def text() -> str:
    return PAGE.read_text(encoding="utf-8")


def table(beginning: str) -> list[list[str]]:
    """The rows of the first table below a text, without its header."""
    rows: list[list[str]] = []
    for line in text()[text().index(beginning) :].splitlines():
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
        elif rows:
            break
    return rows[2:]


def count(cell: str) -> int:
    """A number, or how many findings a cell names by their rules."""
    found = FINDINGS.findall(cell)
    return sum(int(number) for number, _ in found) if found else int(re.sub(r"none|,", "", cell) or 0)


def places(cell: str) -> int:
    """The findings at the places of a cell: `file.py:3`, `5` (x2)."""
    return len(re.findall(r"`[^`]+`", cell)) + sum(int(times) - 1 for times in re.findall(r"\(x(\d+)\)", cell))


@pytest.mark.parametrize("beginning", ["## Packages", "## More packages"])
def test_the_sums_of_packages(beginning: str):
    *rows, last = table(beginning)
    assert last[0] == "all"
    columns = range(2, len(last))
    assert [sum(count(row[column]) for row in rows) for column in columns] == [
        count(last[column]) for column in columns
    ]


def test_every_finding_above_a_note_has_a_verdict():
    rows = table("## Findings above `note`")
    judged = Counter(row[3] for row in rows for _ in range(places(row[1])))
    *_, last = table("## Packages")
    assert judged == {"right": count(last[4])}
    assert f"Of {last[4]} findings, {last[4]} are right" in text()


def test_the_first_run():
    judged, packages = Counter[str](), Counter[str]()
    for package, _, lines, _, verdict in table("## The first run"):
        findings = sum(int(times) if times else 1 for _, times in re.findall(r"(\d+)(?: \(x(\d+)\))?(?:,|$)", lines))
        judged[verdict.partition(":")[0]] += findings
        packages[package] += findings
    told = ", ".join(f"{package} {number}" for package, number in packages.most_common())
    assert f"{judged.total()} findings above `note` ({told}" in " ".join(text().split())
    assert f"{judged['right']} of them were right" in text()


def test_the_notes():
    rules = Counter[str]()
    for row in table("## Packages")[:-1]:
        for number, rule in FINDINGS.findall(row[5]):
            rules[rule] += int(number)
    assert f"Of the {rules.total()} notes, {rules['NST604']} are NST604" in text()
    assert f"**NST701 ({rules['NST701']})**" in text()


def test_the_experiments():
    reasons = sum(int(row[1]) for row in table("- 23 are inconclusive"))
    assert f"- {reasons} are inconclusive" in text()


def test_the_functions_of_six_packages():
    verdicts = Counter(row[2] for row in table("### Functions of six packages") for _ in range(places(row[0])))
    assert f"{verdicts.total()} of their functions have findings" in text()
    assert f"Of all {verdicts.total()}, {verdicts['inconclusive']} have none." in text()
