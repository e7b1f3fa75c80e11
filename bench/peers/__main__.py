"""Measures nonstrict beside other tools, and writes the page, the tables and the charts.

    python -m bench.peers run [--only NAME,...] [--runs 3] [--edits 100] [--modules 1000] [--small 100] [--slow]
                              [--corpus NAME=FOLDER ...] [--programs FOLDER ...] [--out FOLDER]
    python -m bench.peers page [--check]

`make bench-peers` prepares the tools and runs the first. --only names parts (`commands`, `editors`), tools
(`nonstrict`, `ruff F`, `ruff ALL`, `ty`, `pyrefly`, `basedpyright`, `TorchFix`), what is checked (`torch`,
`dense project`, `small dense project`, each NAME) and files that are edited (`sparse file`, ...). The other tables of
an earlier run stay if it was on such a machine with the same versions. --slow runs basedpyright and TorchFix on the
large corpora too, which takes many minutes. --corpus is the folder of another package. --programs is a folder whose
programs are taken before all others, that of a compiled nonstrict for example. --out writes the results and all that is
made of them into a folder instead of their places.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from bench.peers import page
from bench.peers.corpora import CORPORA, FILES
from bench.peers.results import FILE, load
from bench.peers.running import Plan, results
from bench.peers.tools import TOOLS

ROOT = Path(__file__).parents[2]
#: Where the Makefile installs the tools that are not those of developers.
PROGRAMS = ROOT / ".venv" / "peers" / "bin"
PARTS = ("commands", "editors")


def plan_of(options: argparse.Namespace) -> Plan:
    """What the command line asks for."""
    only = {name for name in options.only.split(",") if name}
    others = {name: Path(root) for name, _, root in (text.partition("=") for text in options.corpus)}
    subjects = {*CORPORA, *FILES, *others}
    unknown = only - {*PARTS, *TOOLS, *subjects}
    if unknown:
        raise SystemExit(f"no part, tool, corpus or file: {', '.join(sorted(unknown))}")
    return Plan(
        parts=only & {*PARTS} or PARTS,
        wanted=only & {*TOOLS} or TOOLS,
        subjects=only & subjects or subjects,
        runs=options.runs,
        edits=options.edits,
        modules=options.modules,
        small=options.small,
        slow=options.slow,
        timeout=options.timeout,
        others=others,
        programs=(*(folder.resolve() for folder in options.programs), PROGRAMS),
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(
        prog="python -m bench.peers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = made.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="measure, then write the page")
    run.add_argument("--only", default="", help="comma-separated parts, tools, corpora and files")
    run.add_argument("--runs", type=int, default=3)
    run.add_argument("--edits", type=int, default=100, help="edits of each server in each file")
    run.add_argument("--modules", type=int, default=1000, help="size of the dense project")
    run.add_argument("--small", type=int, default=100, help="size of the small dense project")
    run.add_argument("--slow", action="store_true", help="basedpyright and TorchFix on large corpora too")
    run.add_argument("--timeout", type=int, default=900, help="seconds that one command may take")
    run.add_argument("--corpus", action="append", default=[], metavar="NAME=FOLDER", help="another package")
    run.add_argument("--programs", action="append", default=[], type=Path, help="a folder of programs to prefer")
    run.add_argument("--out", type=Path, help="a folder for all that is written")
    writing = commands.add_parser("page", help="write the page from the last results")
    writing.add_argument("--check", action="store_true", help="write nothing; exit status 1 if something differs")
    return made


def main(arguments: list[str] | None = None) -> int:
    """Do what is asked; exit status 1 if what is written is to be checked and differs."""
    options = parser().parse_args(arguments)
    found, root = load(), ROOT
    if options.command == "run":
        plan = plan_of(options)
        with tempfile.TemporaryDirectory() as scratch:
            newer = results(Path(scratch), plan)
        root = (options.out or ROOT).resolve()
        kept = root / FILE.relative_to(ROOT)
        before = load(kept) if options.only else None
        found = before.renewed(newer) if before is not None else newer
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(found.written(), encoding="utf-8")
    files = page.files(found)
    if options.command == "page" and options.check:
        return int(page.stale(files) != [])
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    sys.stdout.write("".join(f"{path}\n" for path in files))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
