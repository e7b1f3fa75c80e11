"""Takes in a release of torch: measures what it does, writes what differs from what is known, and says what changes.

Run by the developer's Python (`make knowledge PYTHON=...`); `--python` is an interpreter that has the release, with
numpy and nothing else. What it does is compared with the nearest release that was measured, and what differs is written
beside the tables of that in `analysis/nonstrict/knowledge/data`. The report says what that is, and which findings in
corpus, examples and suites are others with it. A part that was measured is not measured again, and one that was
interrupted goes on: what is found lies in `.knowledge/VERSION` until somebody removes it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from taking_in.parts import PARTS, Part
from taking_in.report import GROUPS, report

from nonstrict.knowledge.releases import BASE, release_of, shown

ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Measures, writes the differences, and reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="an interpreter with torch and numpy")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--work", type=Path, default=ROOT / ".knowledge", help="where what was measured is kept")
    parser.add_argument("--processes", type=int, help="how many at a time; as many as processors by default")
    parser.add_argument("--report", type=Path, help="a file for the report too")
    parser.add_argument(
        "--findings", nargs="*", choices=GROUPS, default=list(GROUPS), help="whose findings it compares"
    )
    options = parser.parse_args()
    version = version_of(options.python)
    release = release_of(version)
    if release == BASE:
        parser.error(f"torch {shown(BASE)} is what others differ from: `make graph-breaks guards` measures it")
    folder: Path = options.work / version
    folder.mkdir(parents=True, exist_ok=True)
    for name, part in PARTS.items():
        if name in options.only:
            path = folder / f"{name}.json"
            if path.exists() or _is_measured(part, path, options):
                part.keep(path, release)
    text = report(version, folder, options.findings)
    print(text, end="")
    if options.report is not None:
        options.report.write_text(text, encoding="utf-8")


def _is_measured(part: Part, path: Path, options: argparse.Namespace) -> bool:
    """Measure a part; what torch crashes in costs this part alone."""
    print(f"Measuring {path} ...", file=sys.stderr)
    try:
        part.measure(options.python, path, options.processes)
    except subprocess.CalledProcessError as error:
        print(f"{path} was not measured: {error}", file=sys.stderr)
        return False
    return True


def version_of(python: str) -> str:
    """The version of an interpreter's torch, without the build: `2.12.0`."""
    code = "import torch; print(torch.__version__.split('+')[0])"
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
