"""Runs the tools on the programs and writes the page.

    python -m bench.comparison run [--rules FOLDER]   runs everything, writes bench/results/comparison.json and the page
    python -m bench.comparison page [--check]         writes the page from the results of the last run

`make comparison` prepares the tools and runs the first. FOLDER is a checkout of rules for semgrep: those of Trail of
Bits (`git clone https://github.com/trailofbits/semgrep-rules`) are under a licence of their own and not part of this
repository; without them their column says less.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.comparison import page, running
from bench.comparison.model import Setting
from bench.comparison.programs import all_programs
from bench.comparison.results import FILE, load

ROOT = Path(__file__).parents[2]
COMMANDS = ROOT / ".venv" / "comparison" / "bin"


def run(rules: Path | None, rounds: int) -> None:
    """Run every tool on every program, and keep what comes out."""
    with tempfile.TemporaryDirectory() as scratch:
        setting = Setting(Path(sys.executable), COMMANDS, Path(scratch), rules and rules / "python")
        results = running.results(setting, all_programs(), origin(rules), rounds)
    FILE.write_text(results.written(), encoding="utf-8")


def origin(rules: Path | None) -> str:
    """The repository and the commit of a checkout of rules."""
    if rules is None:
        return ""
    git = ["git", "-C", str(rules), "log", "-1", "--format=%h"]
    commit = subprocess.run(git, capture_output=True, encoding="utf-8", check=False).stdout.strip()
    return f"trailofbits/semgrep-rules {commit}".strip()


def main(arguments: list[str] | None = None) -> int:
    """Do what is asked; exit status 1 if the page is to be checked and says something else."""
    parser = argparse.ArgumentParser(prog="python -m bench.comparison", description="Compare tools on programs.")
    commands = parser.add_subparsers(dest="command", required=True)
    running_ = commands.add_parser("run", help="run the tools, then write the page")
    running_.add_argument("--rules", type=Path, help="a checkout of trailofbits/semgrep-rules")
    running_.add_argument("--rounds", type=int, default=3, help="how often each tool is timed")
    writing = commands.add_parser("page", help="write the page from the last results")
    writing.add_argument("--check", action="store_true", help="write nothing; exit status 1 if it differs")
    options = parser.parse_args(arguments)
    if options.command == "run":
        run(options.rules, options.rounds)
    text = page.rendered(load(), all_programs())
    if options.command == "page" and options.check:
        return int(page.PAGE.read_text(encoding="utf-8") != text)
    page.PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
