"""Runs the benchmarks of `make bench` and writes their tables to bench/results/.

    python bench/report.py [--only scaling,truth] [--runs 3] [--modules 1000] [--sizes 10,100,1000,5000]

scaling   `nonstrict check` beside ruff on synthetic projects of growing size
truth     planted hazards of the synthetic project: found, with their call chains, and nothing else

Only ratios within one table mean anything: they come from interleaved runs on one machine.
"""

from __future__ import annotations

import argparse
import compileall
import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
sys.path.insert(0, str(HERE))

import ground_truth  # noqa: E402 - a neighbour of this program, found from wherever it is started

CASES = HERE / "cases_fast.json"
PACKAGE = HERE.parent / "analysis" / "nonstrict"
OURS = "nonstrict check"
BASES = ("ruff F no-cache", "ruff ALL no-cache")


def generate(folder: Path, modules: int) -> Path:
    """Write a synthetic project of that many modules below `folder`; returns its folder."""
    project = folder / f"synthetic-{modules}"
    command = [sys.executable, str(HERE / "gen_project.py"), "--modules", str(modules), "--out", str(project)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return project


def with_path(*folders: Path) -> dict[str, str]:
    """The environment, with programs sought first in these folders and then beside the interpreter."""
    first = [*map(str, folders), str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    return {**os.environ, "PATH": os.pathsep.join(first)}


def measure_cases(
    folder: Path, corpora: dict[str, Path], cases: Path, runs: int, more: list[str], environment: dict[str, str]
) -> dict[str, Any]:
    """What cli_bench.py measured of the cases in a file: its JSON, with one row per corpus and case.

    Our package is compiled to bytecode before, as pip does it for an installed one.
    """
    compileall.compile_dir(PACKAGE, quiet=1)
    out = folder / "measured.json"
    command = [sys.executable, str(HERE / "cli_bench.py"), "--cases", str(cases), "--runs", str(runs), *more]
    command += ["--var", f"py={sys.executable}", "--json", str(out)]
    for name, root in corpora.items():
        command += ["--corpus", f"{name}={root}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    measured: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return measured


def measure(folder: Path, corpora: dict[str, Path], cases: tuple[str, ...], runs: int) -> dict[str, Any]:
    """The rows of our own cases and of ruff's, the first case the base of ratios; none may have failed."""
    more = ["--only", ",".join(cases), "--base", cases[0]]
    measured = measure_cases(folder, corpora, CASES, runs, more, with_path())
    for row in measured["rows"]:
        if set(row["rc"]) - {0, 1}:
            raise RuntimeError(f"{row['case']} failed on {row['corpus']}: {row['tail'][-400:]}")
    return measured


def rows_by_case(measured: dict[str, Any], corpus: str) -> dict[str, dict[str, Any]]:
    """The rows of one corpus by the name of their case."""
    return {row["case"]: row for row in measured["rows"] if row["corpus"] == corpus}


def ratio(row: dict[str, Any], base: dict[str, Any] | None) -> str:
    """Wall time of a row against a base, as a factor; "-" without one."""
    return f"{row['wall_s'] / base['wall_s']:.2f}" if base else "-"


def machine() -> str:
    """One line about where the figures come from."""
    parts = [f"{os.cpu_count()} cores", f"Python {platform.python_version()}", platform.system()]
    for name in ("ruff", "torch"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            parts.append(f"{name} {importlib.metadata.version(name)}")
    return ", ".join(parts)


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table; the first column left, the others right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [header, rule, *rows])


def write(name: str, title: str, *parts: str) -> None:
    """Write a page of results."""
    RESULTS.mkdir(exist_ok=True)
    head = f"# {title}\n\nWritten by `make bench`: {machine()}. Ratios hold within a table, seconds do not travel."
    (RESULTS / f"{name}.md").write_text("\n\n".join([head, *parts]) + "\n", encoding="utf-8")
    print(f"bench/results/{name}.md")


def torch_package() -> Path | None:
    """The folder of the installed torch, found without importing it."""
    spec = importlib.util.find_spec("torch")
    return Path(spec.origin).parent if spec and spec.origin else None


def scaling(folder: Path, sizes: list[int], runs: int) -> None:
    """Write results/scaling.md: time per module on projects of growing size."""
    corpora = {f"{size:,} modules": generate(folder, size) for size in sizes}
    measured = measure(folder, corpora, (OURS, BASES[1]), runs)
    rows: list[list[str]] = []
    for size, corpus in zip(sizes, corpora, strict=True):
        by_case = rows_by_case(measured, corpus)
        ours = by_case[OURS]
        per_module = f"{1000 * ours['wall_s'] / size:.2f}"
        rows.append([corpus, f"{ours['wall_s']:.2f}", per_module, ratio(ours, by_case.get(BASES[1])),
                     f"{ours['tree_rss_mb']:.0f}"])  # fmt: skip
    header = ["project", "wall s", "ms per module", "x ruff ALL", "peak MB"]
    write("scaling", "Cost against the size of the project", table(header, rows))


def truth(folder: Path, sizes: list[int]) -> bool:
    """Write results/ground_truth.md: planted hazards found; returns whether nothing is wrong."""
    parts: list[str] = []
    passed = True
    for size in sizes:
        project = generate(folder, size)
        report = ground_truth.report_of(f"'{sys.executable}' -m nonstrict", project)
        result = ground_truth.score(ground_truth.Project(project), report)
        passed = passed and result.passed
        listed = [f"- {what}: {text}" for what, texts in sorted(result.wrong.items()) for text in texts[:5]]
        parts += [f"## {size:,} modules", "\n".join([*(f"- {line}" for line in result.lines()), *listed])]
    write("ground_truth", "Planted hazards", *parts)
    return passed


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks asked for; exit status 1 if a planted hazard was judged wrongly."""
    parser = argparse.ArgumentParser(description="Run the benchmarks and write bench/results/.")
    parser.add_argument("--only", default="scaling,truth", help="which of scaling, truth")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--modules", type=int, default=1000, help="size of the largest project of `truth`")
    parser.add_argument("--sizes", default="10,100,1000,5000", help="sizes of the projects of `scaling`")
    options = parser.parse_args(arguments)
    wanted = set(options.only.split(","))
    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if "scaling" in wanted:
            scaling(folder, sizes, options.runs)
        passed = truth(folder, [size for size in sizes if size <= options.modules]) if "truth" in wanted else True
    return 0 if passed else 1


if __name__ == "__main__":
    raise SystemExit(main())
