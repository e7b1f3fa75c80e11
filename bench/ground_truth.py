"""Holds what `nonstrict check` finds in a synthetic project against the project's own manifest.

    python bench/ground_truth.py PROJECT [--nonstrict 'COMMAND'] [--json REPORT] [--verbose]

PROJECT is a folder that gen_project.py wrote. Every planted hazard that a marked function reaches must be reported at
its line, with a rule of its kind and the chain of calls that leads to it; a hazard that nothing reaches must not be
reported, and neither may any other line (notes are free). --json reads a report instead of running the command.
The exit status is 0 if all of that holds, 1 if not, 2 if the command could not do its job.
"""

from __future__ import annotations

import argparse
import ast
import collections
import functools
import itertools
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Which rules may report a kind of hazard (gen_project.HAZARDS).
CODES = {
    "global-write": {"NST203"},
    "global-append": {"NST203"},
    "global-dict-write": {"NST203", "NST207"},
    "captured-tensor": {"NST101"},
    "data-dependent": {"NST402"},
    "print": {"NST201"},
}
#: Helpers keep their number under every import style: `helper_00012_3`, `pub_00012_3`, `_h00012_3`.
CALLEE = re.compile(r"(?:helper_|pub_|_h)(\d{5}_\d)\(")


@dataclass
class Score:
    """Counts of hazards and findings, and a sentence for each thing that is wrong."""

    reachable: int = 0
    found: int = 0
    unreachable: int = 0
    findings: int = 0
    longest_chain: int = 0
    detours: int = 0
    wrong: dict[str, list[str]] = field(default_factory=lambda: collections.defaultdict(list))

    @property
    def passed(self) -> bool:
        """Whether nothing was missed, invented, or reported without its chain."""
        return not any(self.wrong.values())

    def lines(self) -> list[str]:
        """The score as lines of text."""
        counted = ", ".join(f"{len(sentences)} {what}" for what, sentences in sorted(self.wrong.items()) if sentences)
        return [
            f"{self.found} of {self.reachable} reachable hazards found, {self.unreachable} unreachable ones planted",
            f"{self.findings} findings, longest call chain {self.longest_chain}, longer than needed {self.detours}",
            f"wrong: {counted or 'nothing'}",
        ]


class Project:
    """A generated project: its manifest, and which function each line belongs to."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.manifest: dict[str, Any] = json.loads((root / "manifest.json").read_text(encoding="utf-8"))
        self.marked = {(entry["file"], entry["function"]) for entry in self.manifest["marked"]}

    @functools.cache  # noqa: B019 - lives as long as the program
    def _functions(self, file: str) -> tuple[list[str], dict[int, str]]:
        text = (self.root / file).read_text(encoding="utf-8")
        owner: dict[int, str] = {}
        for node in ast.parse(text).body:
            if isinstance(node, ast.FunctionDef):
                owner.update(dict.fromkeys(range(node.lineno, (node.end_lineno or node.lineno) + 1), node.name))
        return text.splitlines(), owner

    def relative(self, filename: str) -> str:
        """A path of the report, as the manifest writes it."""
        path = Path(filename)
        path = path.resolve() if path.is_absolute() else (self.root / path).resolve()
        return path.relative_to(self.root).as_posix()

    def call_at(self, file: str, row: int) -> tuple[str, str] | None:
        """(caller, callee) of a call between helpers on a line; None if the line holds none."""
        lines, owner = self._functions(file)
        match = CALLEE.search(lines[row - 1])
        if match is None or row not in owner or lines[row - 1].lstrip().startswith("def "):
            return None
        return owner[row], f"helper_{match[1]}"


def chain_of(project: Project, finding: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(file, caller, callee) of each call among the related locations, in their order."""
    calls: list[tuple[str, str, str]] = []
    for link in finding["related"]:
        file = project.relative(link["filename"])
        call = project.call_at(file, link["location"]["row"])
        if call is not None:
            calls.append((file, *call))
    return calls


def broken_chain(project: Project, finding: dict[str, Any], hazard: dict[str, Any]) -> str:
    """What is wrong with the call chain of a finding; "" if it leads from a marked function to the hazard."""
    calls = chain_of(project, finding)
    if not calls:
        return "no call chain"
    if calls[0][:2] not in project.marked:
        return f"the chain starts in {calls[0][1]}, which is not marked"
    if not str(finding["function"]).endswith(calls[0][1]):
        return f"the chain starts in {calls[0][1]}, the finding names {finding['function']}"
    for (_, _, callee), (_, caller, _) in itertools.pairwise(calls):
        if caller != callee:
            return f"the chain jumps from {callee} to {caller}"
    if calls[-1][2] != hazard["function"]:
        return f"the chain ends in {calls[-1][2]}"
    if len(calls) < hazard["depth"]:
        return f"{len(calls)} calls, fewer than the {hazard['depth']} there are"
    return ""


def score(project: Project, report: list[dict[str, Any]]) -> Score:
    """Hold a JSON report against the manifest."""
    result = Score(findings=len(report))
    at: dict[tuple[str, int], list[dict[str, Any]]] = collections.defaultdict(list)
    for finding in report:
        if finding["severity"] != "note":
            at[project.relative(finding["filename"]), finding["location"]["row"]].append(finding)
    for hazard in project.manifest["hazards"]:
        place = f"{hazard['file']}:{hazard['line']} {hazard['kind']}"
        here = at.pop((hazard["file"], hazard["line"]), [])
        if hazard["depth"] is None:
            result.unreachable += 1
            result.wrong["unreachable reported"] += [f"{place}: {finding['code']}" for finding in here]
            continue
        result.reachable += 1
        fitting = [finding for finding in here if finding["code"] in CODES[hazard["kind"]]]
        if fitting:
            result.found += 1
        else:
            result.wrong["missed"].append(f"{place} at depth {hazard['depth']}")
        result.wrong["of another rule"] += [f"{place}: {f['code']} {f['message']}" for f in here if f not in fitting]
        for finding in fitting:
            problem = broken_chain(project, finding, hazard)
            if problem:
                result.wrong["with a broken chain"].append(f"{place}: {problem}")
        lengths = [len(chain_of(project, finding)) for finding in fitting]
        result.longest_chain = max([result.longest_chain, *lengths])
        result.detours += bool(lengths) and min(lengths) > hazard["depth"]
    for (file, row), findings in sorted(at.items()):
        result.wrong["elsewhere"] += [f"{file}:{row}: {f['code']} {f['message']}" for f in findings]
    return result


def report_of(command: str, root: Path) -> list[dict[str, Any]]:
    """The JSON report of a command on a folder; raises RuntimeError if it could not do its job."""
    options = ["check", "--isolated", "--no-cache", "--output-format", "json", str(root)]
    run = subprocess.run([*shlex.split(command), *options], capture_output=True, encoding="utf-8", check=False)
    if run.returncode not in (0, 1):
        raise RuntimeError(f"exit status {run.returncode}: {run.stderr.strip()[-1000:]}")
    return json.loads(run.stdout)


def main(arguments: list[str] | None = None) -> int:
    """Print the score of a project; returns the exit status."""
    parser = argparse.ArgumentParser(description="Hold findings against the manifest of a synthetic project.")
    parser.add_argument("project", type=Path)
    parser.add_argument("--nonstrict", default=f"{shlex.quote(sys.executable)} -m nonstrict", help="the command to run")
    parser.add_argument("--json", type=Path, help="a report made earlier, instead of running the command")
    parser.add_argument("--verbose", action="store_true", help="say each thing that is wrong")
    options = parser.parse_args(arguments)
    try:
        report = (
            json.loads(options.json.read_text(encoding="utf-8"))
            if options.json
            else report_of(options.nonstrict, options.project)
        )
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 2
    result = score(Project(options.project), report)
    print(*result.lines(), sep="\n")
    if options.verbose:
        for what, sentences in sorted(result.wrong.items()):
            print(*(f"{what}: {sentence}" for sentence in sentences), sep="\n")
    return 0 if result.passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
