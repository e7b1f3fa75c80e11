"""The synthetic project of bench/: its planted hazards are found, and the program that counts them can tell."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bench import ground_truth

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> ground_truth.Project:
    folder = tmp_path_factory.mktemp("synthetic")
    program = ROOT / "bench" / "gen_project.py"
    command = [sys.executable, str(program), "--modules", "120", "--hazards", "0.3", "--out", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    return ground_truth.Project(folder)


def made_up(project: ground_truth.Project, hazard: dict[str, Any]) -> dict[str, Any]:
    code = min(ground_truth.CODES[hazard["kind"]])
    filename = str(project.root / hazard["file"])
    location = {"row": hazard["line"], "column": 1}
    return {"filename": filename, "location": location, "code": code, "severity": "error", "message": "", "related": []}


def shortest_chains(project: ground_truth.Project) -> dict[str, list[dict[str, Any]]]:
    """For each helper that a marked function reaches, the related locations of a shortest chain of calls."""
    calls: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for path in sorted(project.root.rglob("*.py")):
        file = path.relative_to(project.root).as_posix()
        for row in range(1, path.read_text(encoding="utf-8").count("\n") + 1):
            call = project.call_at(file, row)
            if call is not None:
                link = {"filename": str(path), "location": {"row": row, "column": 1}}
                calls.setdefault(call[0], []).append((call[1], link))
    chains: dict[str, list[dict[str, Any]]] = {function: [] for _, function in sorted(project.marked)}
    queue = list(chains)
    for function in queue:
        for callee, link in calls.get(function, []):
            if callee not in chains:
                chains[callee] = [*chains[function], link]
                queue.append(callee)
    return chains


def test_a_right_report_passes(project: ground_truth.Project):
    chains = shortest_chains(project)
    report: list[dict[str, Any]] = []
    for hazard in project.manifest["hazards"]:
        if hazard["depth"] is not None:
            related = chains[hazard["function"]]
            first = project.call_at(project.relative(related[0]["filename"]), related[0]["location"]["row"])
            assert first is not None
            report.append(made_up(project, hazard) | {"related": related, "function": f"proj.{first[0]}"})
    result = ground_truth.score(project, report)
    assert result.passed, result.wrong
    assert (result.found, result.detours) == (result.reachable, 0)


def test_silence_misses_every_reachable_hazard(project: ground_truth.Project):
    result = ground_truth.score(project, [])
    assert len(result.wrong["missed"]) == result.reachable > 20
    assert result.unreachable > 20
    assert not result.passed


def test_what_is_not_reachable_must_not_be_reported(project: ground_truth.Project):
    hazards = [hazard for hazard in project.manifest["hazards"] if hazard["depth"] is None]
    result = ground_truth.score(project, [made_up(project, hazard) for hazard in hazards])
    assert len(result.wrong["unreachable reported"]) == len(hazards)


def test_a_finding_needs_its_chain(project: ground_truth.Project):
    hazards = [hazard for hazard in project.manifest["hazards"] if hazard["depth"] is not None]
    result = ground_truth.score(project, [made_up(project, hazard) for hazard in hazards])
    assert result.found == result.reachable
    assert len(result.wrong["with a broken chain"]) == len(hazards)


def test_every_planted_hazard_is_judged_rightly(project: ground_truth.Project):
    report = ground_truth.report_of(f"{shlex.quote(sys.executable)} -m nonstrict", project.root)
    result = ground_truth.score(project, report)
    assert result.passed, [*result.lines(), *(text for texts in result.wrong.values() for text in texts[:3])]
    assert result.longest_chain > 3
