"""Which source of arguments leads to verdicts: `nonstrict check --confirm` on some folders, counted by source.

    python bench/sources.py [--python PYTHON] FOLDER ...

A row is a source (`settings`, `records`, `directive`, `program`, `tests`, `callers`, `docstring`, `search`): how many
findings its last experiment confirmed, refuted, or left open. Findings of which no experiment ran stand under `none`,
with the reasons. The code of the folders is executed, in the sandbox of the command.
"""

from __future__ import annotations

import argparse
import collections
import json
import subprocess
import sys
from typing import Any

_STATES = ("confirmed", "refuted", "inconclusive")


def verdicts_of(folder: str, python: str) -> list[dict[str, Any]]:
    """The verdicts about the findings in a folder, as the command gives them in JSON."""
    options = ["--confirm", "--no-cache", "--isolated", "--output-format", "json", "."]
    command = [python, "-m", "nonstrict", "check", *options]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(f"nonstrict check in {folder} ended with {done.returncode}")
    return [finding["verdict"] for finding in json.loads(done.stdout) if finding.get("verdict")]


def table(verdicts: list[dict[str, Any]]) -> list[str]:
    """The rows of a Markdown table."""
    counted: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    reasons: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for verdict in verdicts:
        source = verdict["source"] or "none"
        counted[source][verdict["status"]] += 1
        if verdict["reason"]:
            reasons[source][verdict["reason"]] += 1
    rows = ["| source | confirmed | refuted | inconclusive | reasons |", "|---|---|---|---|---|"]
    for source, states in sorted(counted.items(), key=lambda entry: -sum(entry[1].values())):
        told = ", ".join(f"{count} {reason}" for reason, count in reasons[source].most_common())
        rows.append(f"| {source} | {' | '.join(str(states[state]) for state in _STATES)} | {told} |")
    return rows


def main() -> None:
    """Prints one table for all folders."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--python", default=sys.executable)
    options = parser.parse_args()
    found = [verdict for folder in options.folders for verdict in verdicts_of(folder, options.python)]
    print("\n".join(table(found)))


if __name__ == "__main__":
    main()
