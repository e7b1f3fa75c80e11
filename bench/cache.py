"""Times `nonstrict check` with its cache: cold, nothing changed, after one edit, in a fresh clone, and with all fixes.

    bench/cache.py [--modules 1000] [--edits 20] [--seed 0] [--write]

Projects are those of `gen_project.py`. An edit adds a line at the top of a module that is drawn; each is made once more
as before, so that all begin with the same cache. Every answer is compared with that of a run without a cache. Cold and
edited runs are taken in turn. All fixes are made in memory, round after round. `--write` puts the figures into
`results/cache.md`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
CACHE = ".nonstrict_cache"
#: A file counts as unchanged once its status is as old as this (seconds).
SETTLED = 2.5


class Run(NamedTuple):
    """How long a command took, in seconds, and what it printed."""

    seconds: float
    out: str


def checked(folder: Path, *options: str) -> Run:
    """Check a project once."""
    command = [sys.executable, "-m", "nonstrict", "check", ".", "-q", "--exit-zero", *options]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return Run(time.perf_counter() - began, done.stdout)


def edited(folder: Path, path: Path) -> tuple[Run, bool]:
    """Check a project after an edit, with the cache that it had before; whether a run without one says the same."""
    cache, text = folder / CACHE, path.read_text(encoding="utf-8")
    kept = folder.parent / "kept"
    shutil.copytree(cache, kept)
    path.write_text(f"# edited\n{text}", encoding="utf-8")
    run = checked(folder)
    same = run.out == checked(folder, "--no-cache").out
    path.write_text(text, encoding="utf-8")
    shutil.rmtree(cache)
    shutil.move(kept, cache)
    return run, same


def measured(folder: Path, edits: int, seed: int) -> list[tuple[str, list[float], bool]]:
    """Rows of what was done: the seconds of each time, and whether the answers were those of runs without a cache."""
    project = folder / "project"
    paths = sorted(project.rglob("m*.py"))
    plain = checked(project, "--no-cache").out
    first = checked(project)
    time.sleep(SETTLED)
    checked(project)
    warm = [checked(project) for _ in range(5)]
    cold, after, same = [first.seconds], list[float](), True
    for path in random.Random(seed).sample(paths, edits):  # noqa: S311 - nothing is kept secret
        run, agrees = edited(project, path)
        after.append(run.seconds)
        same = same and agrees
        if len(after) % 5 == 0:
            cold.append(checked(project, "--no-cache").seconds)
    clones: list[Run] = []
    for number in range(3):
        clone = folder / f"clone{number}"
        shutil.copytree(project, clone)
        clones.append(checked(clone))
    every = ("--diff", "--unsafe-fixes")
    fixed, kept, again = checked(project, "--no-cache", *every), checked(project, *every), checked(project, *every)
    same_fixes = fixed.out == kept.out == again.out
    return [
        ("cold, without a cache", cold, first.out == plain),
        ("nothing changed", [run.seconds for run in warm], all(run.out == plain for run in warm)),
        (f"one edit, {edits} modules drawn", after, same),
        ("a fresh clone with the cache", [run.seconds for run in clones], all(run.out == plain for run in clones)),
        ("all fixes, without a cache", [fixed.seconds], same_fixes),
        ("all fixes once more, with the cache", [again.seconds], same_fixes),
    ]


def table(rows: list[tuple[str, list[float], bool]], modules: int) -> str:
    """The figures as a page."""
    base = statistics.median(rows[0][1])
    lines = ["# The cache", "", f"`bench/cache.py --modules {modules}`, one run; ratios are to the cold row.", ""]
    lines += ["| | median | ratio | least | most | same answers |", "|---|---|---|---|---|---|"]
    for name, seconds, same in rows:
        median = statistics.median(seconds)
        bounds = f"{min(seconds):.2f} s | {max(seconds):.2f} s"
        lines.append(f"| {name} | {median:.2f} s | {median / base:.2f} | {bounds} | {'yes' if same else 'NO'} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--modules", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        generator = [sys.executable, str(HERE / "gen_project.py"), "--modules", str(options.modules)]
        subprocess.run([*generator, "--out", str(folder / "project")], check=True, stdout=subprocess.DEVNULL)
        page = table(measured(folder, options.edits, options.seed), options.modules)
    sys.stdout.write(page)
    if options.write:
        (HERE / "results" / "cache.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
