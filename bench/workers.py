"""How long `nonstrict check --confirm` takes with several workers on one machine, and whether the verdicts agree.

    python bench/workers.py [--runs 3] [--programs FOLDER] [--workers 1,2,4,8] [--jobs 8] [--write]

The programs are those of `examples/`. Each number of workers runs with the default number of jobs and with `--jobs`:
`--jobs` is divided among the workers, so that more workers than jobs are left out. One run before all others fills the
cache of kernels; runs are taken in turns, and nothing else is cached. A verdict is its status, its reason and what each
backend did. With --write the table goes to bench/results/workers.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).resolve().parent
BUSY = " The machine had other work: compare the verdicts, not the times."


class Setting(NamedTuple):
    """A cell of the table: so many workers, and so many jobs, None for the default number."""

    jobs: int | None
    workers: int


class Run(NamedTuple):
    """How long a run took (s), and its verdicts by file, line and code."""

    seconds: float
    verdicts: dict[tuple[str, int, str], str]


def settings_of(workers: list[int], jobs: int, processors: int) -> list[Setting]:
    """The settings to compare, those that leave a worker without a job left out."""
    pairs = [Setting(given, count) for given in (None, jobs) for count in workers]
    return [pair for pair in pairs if pair.workers <= (pair.jobs or processors)]


def confirmed(programs: Path, setting: Setting, environment: dict[str, str]) -> Run:
    """Confirm the findings in the programs once."""
    command = [sys.executable, "-m", "nonstrict", "check", "--confirm", "--isolated", "--no-cache", "--exit-zero", "-q"]
    command += ["--python", sys.executable, "--device", "cpu", "--workers", str(setting.workers)]
    command += ["--output-format", "json", *(["-j", str(setting.jobs)] if setting.jobs else []), str(programs)]
    began = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    seconds = time.perf_counter() - began
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return Run(seconds, {_place(one): _verdict(one["verdict"]) for one in found if one["verdict"]})


def _place(finding: dict[str, Any]) -> tuple[str, int, str]:
    return finding["filename"], finding["location"]["row"], finding["code"]


def _verdict(verdict: dict[str, Any]) -> str:
    return json.dumps([verdict["status"], verdict["reason"], verdict["backends"]], sort_keys=True)


def measured(programs: Path, settings: list[Setting], runs: int) -> dict[Setting, list[Run]]:
    """The runs of each setting, in turns."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "XDG_CACHE_HOME": cache}
        confirmed(programs, settings[0], environment)
        found: dict[Setting, list[Run]] = {setting: [] for setting in settings}
        for _ in range(runs):
            for setting in settings:
                found[setting].append(confirmed(programs, setting, environment))
    return found


def differing(found: dict[Setting, list[Run]]) -> list[str]:
    """The findings whose verdict was not the same in each run."""
    runs = [run.verdicts for several in found.values() for run in several]
    places = sorted({place for verdicts in runs for place in verdicts})
    return [
        f"{Path(file).name}:{row} {code}"
        for file, row, code in places
        if len({verdicts.get((file, row, code)) for verdicts in runs}) > 1
    ]


def table(found: dict[Setting, list[Run]]) -> str:
    """The medians as a Markdown table, with the ratio to one worker and default jobs."""
    medians = {setting: statistics.median(run.seconds for run in runs) for setting, runs in found.items()}
    base = next(iter(medians.values()))
    counts = sorted({setting.workers for setting in found})
    lines = ["| jobs | " + " | ".join(f"{count} worker{'s' if count > 1 else ''}" for count in counts) + " |"]
    lines.append("|---|" + "---|" * len(counts))
    for jobs in dict.fromkeys(setting.jobs for setting in found):
        shown = (medians.get(Setting(jobs, count)) for count in counts)
        cells = (f"{seconds:.0f} s, {seconds / base:.2f}x" if seconds else "" for seconds in shown)
        lines.append(f"| {f'`-j {jobs}`' if jobs else 'default'} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def page(found: dict[Setting, list[Run]], processors: int, load: float, name: str) -> str:
    """The whole page of results."""
    verdicts = next(iter(found.values()))[0].verdicts
    runs = len(next(iter(found.values())))
    others = differing(found)
    told = f"not the same each time: {', '.join(others)}" if others else "the same each time"
    programs = len({file for file, _, _ in verdicts})
    seconds = f"medians of {runs} runs in turns" if runs > 1 else "one run each"
    return (
        "# Several workers on one machine\n\n"
        f"Written by `bench/workers.py`: Python {platform.python_version()}, torch {version('torch')}, {processors} "
        f"processors, load {load:.1f} when it began. `nonstrict check --confirm` on the {programs} programs with "
        f"findings in `{name}`: {seconds}, and the ratio to one worker with default jobs. The {len(verdicts)} verdicts "
        f"were {told}.{BUSY if load > 1 else ''}\n\n{table(found)}"
    )


def main() -> int:
    """Measure and print; exit status 1 if verdicts differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--programs", type=Path, default=HERE.parent / "examples")
    parser.add_argument("--workers", default="1,2,4,8", help="numbers of workers")
    parser.add_argument("--jobs", type=int, default=8, help="the number of jobs beside the default one")
    parser.add_argument("--write", action="store_true", help="write bench/results/workers.md")
    options = parser.parse_args()
    processors = len(os.sched_getaffinity(0))
    settings = settings_of([int(count) for count in options.workers.split(",")], options.jobs, processors)
    load = os.getloadavg()[0]
    found = measured(options.programs.resolve(), settings, options.runs)
    text = page(found, processors, load, options.programs.name)
    print(text, end="")
    if options.write:
        (HERE / "results" / "workers.md").write_text(text, encoding="utf-8")
    return 1 if differing(found) else 0


if __name__ == "__main__":
    raise SystemExit(main())
