"""What a run of the comparison found, as it is kept: `bench/results/comparison.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.comparison.model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from bench.comparison.model import Program

FILE = Path(__file__).parents[1] / "results" / "comparison.json"


@dataclass(frozen=True)
class Results:
    """The findings of each tool, the truth of each program, figures."""

    versions: dict[str, str]
    #: Where further rules of semgrep came from; "" without any.
    rules: str
    truths: dict[str, str]
    findings: dict[str, list[Finding]]
    #: The verdicts of `nonstrict check --confirm`, by program.
    verdicts: dict[str, list[str]]
    times: dict[str, float]
    timed: str
    #: Of the labelled cases: lines that a tool reports, and files without a label of which it reports a hazard.
    cases: dict[str, list[int]]

    def written(self) -> str:
        """The text of the file."""
        findings = {
            tool: [[found.program, found.line, found.code] for found in reports]
            for tool, reports in self.findings.items()
        }
        return json.dumps({**vars(self), "findings": findings}, indent=1, sort_keys=True) + "\n"


def load(path: Path = FILE) -> Results:
    """The results of the last run."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    findings = {
        tool: [Finding(program, line, code, "") for program, line, code in reports]
        for tool, reports in kept.pop("findings").items()
    }
    return Results(findings=findings, **kept)


def about_hazards(findings: Iterable[Finding], programs: Iterable[Program]) -> list[Finding]:
    """The findings that the page speaks of: those with a code that some label has, without their texts."""
    codes = {"one-graph"}.union(*(program.named | program.near for program in programs))
    kept = {found._replace(message="", note=False) for found in findings if found.code in codes}
    return sorted(kept, key=lambda found: (found.program, found.line or 0, found.code))
