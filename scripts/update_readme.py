"""Puts real output into pages: after each `<!-- output of: COMMAND -->` the block is what COMMAND prints.

    python scripts/update_readme.py [--check]

Commands are `nonstrict ...`, run at the top of the repository by this interpreter, without cache and colour. What
differs from run to run (seconds, the build of torch) is not compared. With --check nothing is written; the exit status
is 1 if a page says something else.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = (ROOT / "README.md", ROOT / "docs" / "start.md")
BLOCK = re.compile(
    r"(<!-- output of: nonstrict (?P<arguments>[^\n]+?) -->\n\n```text\n)(?P<output>.*?)(```\n)", re.DOTALL
)


#: Parts of an output that say something about the machine and the moment.
PASSING = re.compile(r"(?<= in )\d+\.\d+ s|(?<=torch )\d[\w.+]*(?= / )")


def output_of(arguments: str) -> str:
    """What `nonstrict ARGUMENTS` prints to standard output; raises RuntimeError if it could not do its job."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100"}
    environment.pop("GITHUB_ACTIONS", None)
    environment.pop("NONSTRICT_OUTPUT_FORMAT", None)
    run = subprocess.run(
        [sys.executable, "-m", "nonstrict", *shlex.split(arguments), "--isolated", "--no-cache"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if run.returncode not in (0, 1):
        raise RuntimeError(f"`nonstrict {arguments}` failed: {run.stderr.strip()[-500:]}")
    return run.stdout


def updated(text: str) -> str:
    """The text of a page with every block of output made anew."""
    return BLOCK.sub(_block, text)


def _block(match: re.Match[str]) -> str:
    """A block with its new output, or as it is if only passing things differ."""
    output = output_of(match["arguments"]).strip("\n") + "\n"
    same = PASSING.sub("", output) == PASSING.sub("", match["output"])
    return match[0] if same else match[1] + output + match[4]


def main(arguments: list[str] | None = None) -> int:
    """Write or check the pages; returns the exit status."""
    parser = argparse.ArgumentParser(description="Put real output into README.md and docs/start.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a page is not up to date")
    options = parser.parse_args(arguments)
    status = 0
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = updated(before)
        if not options.check:
            page.write_text(after, encoding="utf-8")
        elif before != after:
            print(f"{page.name} shows other output than the command gives: run `make docs`", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    raise SystemExit(main())
