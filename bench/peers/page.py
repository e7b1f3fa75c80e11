"""Writes what a run found: `docs/speed.md`, its charts, and the tables of `bench/results/peers.md`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.peers import chart
from bench.peers.corpora import DENSE, FILES, SMALL, TORCH
from bench.peers.targets import TARGETS
from bench.peers.tools import CLONE, COLD, EDIT, SERVERS, TOOLS, WARM, WITHOUT_CACHE, tool_of
from bench.report import table

if TYPE_CHECKING:
    from bench.peers.results import Results

ROOT = Path(__file__).parents[2]
TEMPLATE = Path(__file__).with_name("template.md")
PAGE = "docs/speed.md"
TABLES = "bench/results/peers.md"
_CHARTS = "docs/images"
_SLOT = "{{results}}"
_BUSY = 1.0
_ABOUT = """\
Written by `make bench-peers`. {kind} [What is measured](../../docs/speed.md#what-is-measured). Ratios hold within a
table, seconds do not travel.

Processor seconds (user and system, of all processes) are the median and, in brackets, the least and the most of several
runs. `as cold`: the command keeps nothing between runs. Memory is the peak of the cold run in MB: private pages,
proportional shares (PSS) and resident pages (RSS), each summed over the processes."""


def files(results: Results | None) -> dict[str, str]:
    """All that is made of results, by its path in the repository; without any, the page without figures."""
    template = TEMPLATE.read_text(encoding="utf-8")
    if results is None:
        return {PAGE: template.replace(_SLOT, "")}
    pictures = charts(results)
    return {
        PAGE: template.replace(_SLOT, _results(results, list(pictures))),
        TABLES: tables(results),
        **{f"{_CHARTS}/{name}.svg": text for name, (_, text) in pictures.items()},
    }


def stale(made: dict[str, str], root: Path = ROOT) -> list[str]:
    """The files that say something else."""
    return [
        path
        for path, text in made.items()
        if not (root / path).exists() or (root / path).read_text(encoding="utf-8") != text
    ]


def charts(results: Results) -> dict[str, tuple[str, str]]:
    """The titles and the pictures by their names, of what was measured."""
    css = chart.COLORS.read_text(encoding="utf-8")
    wanted = {
        "speed-check": ("Processor time of a check", _check_panels(results)),
        "speed-memory": ("Memory of a check", _memory_panels(results)),
        "speed-editor": ("From an edit to diagnostics", _editor_panels(results)),
    }
    return {
        name: (title, chart.drawn(title, panels, css))
        for name, (title, all_panels) in wanted.items()
        if (panels := [panel for panel in all_panels if panel.figures])
    }


def _of_commands(results: Results, corpus: str, doing: str, figure: str) -> dict[str, float]:
    """A figure of the tools; those without a cache do the same whatever has changed."""
    found: dict[str, float] = {}
    for tool in TOOLS:
        row = results.command(corpus, tool, COLD if tool in WITHOUT_CACHE else doing)
        if row and row[figure]:
            found[tool] = row[figure]
    return found


def _named(results: Results, corpus: str) -> str:
    size = results.corpora.get(corpus)
    return f"{corpus}, {size['loc']:,} lines" if size else corpus


def _check_panels(results: Results) -> list[chart.Panel]:
    shown = [(TORCH, COLD), (DENSE, COLD), (SMALL, COLD), (TORCH, EDIT), (DENSE, EDIT)]
    return [
        chart.Panel(f"{_named(results, corpus)}: {doing}", "s", _of_commands(results, corpus, doing, "cpu_s"))
        for corpus, doing in shown
    ]


def _memory_panels(results: Results) -> list[chart.Panel]:
    return [
        chart.Panel(f"{_named(results, corpus)}: cold", "MB", _of_commands(results, corpus, COLD, "private_mb"))
        for corpus in (TORCH, DENSE)
    ]


def _editor_panels(results: Results) -> list[chart.Panel]:
    tools = [tool_of(server) for server in SERVERS]
    return [
        chart.Panel(
            f"{file}: p95", "ms", {tool: row["p95_ms"] for tool in tools if (row := results.server(file, tool))}
        )
        for file in FILES
    ]


def _results(results: Results, pictures: list[str]) -> str:
    """The section of the page that has figures."""
    shown = charts(results)
    parts = [f"## Results\n\n{kind(results)} [All figures](../{TABLES})."]
    parts += [f"![{shown[name][0]}](images/{name}.svg)" for name in pictures]
    parts += [
        "The scales are logarithmic: from one line to the next is ten times as much.",
        "### Targets\n\nWhat nonstrict is meant to reach. Times of commands are processor times.",
        targets(results),
    ]
    return "\n\n".join(parts) + "\n\n"


def kind(results: Results) -> str:
    """Sentences about the machine and the versions."""
    told = dict(results.machine)
    cores, system, python = told.pop("cores"), told.pop("system"), told.pop("Python")
    load = float(told.pop("load before"))
    versions = ", ".join(f"{tool} {number}" for tool, number in told.items())
    busy = f" The machine had other work (load {load:.1f})." if load > _BUSY else ""
    return f"Measured on {cores} cores with {system} and Python {python}: {versions}.{busy}"


def targets(results: Results) -> str:
    """What is meant to be reached, and what is."""
    words = {True: "met", False: "not met", None: "not measured"}
    rows: list[list[str]] = []
    for target in TARGETS:
        value = target.value(results)
        shown = f"{chart.told(value)}{target.unit}" if value is not None else ""
        rows.append([target.what, target.beside, f"{target.most:g}{target.unit}", shown, words[target.met(results)]])
    return table(["what", "beside", "at most", "measured", "target"], rows)


def tables(results: Results) -> str:
    """The page of all figures."""
    parts = ["# nonstrict beside other tools", _ABOUT.format(kind=kind(results))]
    for corpus, size in results.corpora.items():
        output = "JSON" if size["json"] else "one line per finding"
        parts += [
            f"## {corpus}: {size['files']:,} files, {size['loc']:,} lines, output {output}",
            _commands(results, corpus),
        ]
    for file, measured in results.editors.items():
        parts += [f"## {file}: {measured['lines']:,} lines, edits", _servers(results, file)]
    return "\n\n".join([*parts, "## Targets", targets(results)]) + "\n"


def _commands(results: Results, corpus: str) -> str:
    base = results.command(corpus, TOOLS[0], COLD)
    rows: list[list[str]] = []
    for tool in TOOLS:
        own = results.commands.get(corpus, {}).get(tool)
        if not own:
            continue
        row, ended = own[COLD], results.command(corpus, tool, COLD)
        again = [_seconds(own.get(doing), tool) for doing in (WARM, EDIT, CLONE)]
        ratio = f"{row['cpu_s'] / base['cpu_s']:.2f}" if base and ended else ""
        memory = [f"{row[name]:.0f}" for name in ("private_mb", "pss_mb", "tree_rss_mb")]
        rows.append([tool, _seconds(row, tool), ratio, f"{row['wall_s']:.2f}", *again, *memory])
    header = ["tool", COLD, "x nonstrict", "wall s", WARM, EDIT, CLONE, "private", "PSS", "RSS"]
    return table(header, rows)


def _seconds(row: dict[str, Any] | None, tool: str) -> str:
    if row is None:
        return "as cold" if tool in WITHOUT_CACHE else ""
    if row["failed"]:
        return "failed"
    if row["timed_out"]:
        return f"more than {row['wall_s']:.0f} s of wall time"
    spread = f" ({row['cpu_min']:.2f}..{row['cpu_max']:.2f})" if row["runs"] > 1 else ""
    return f"{row['cpu_s']:.2f}{spread}"


def _servers(results: Results, file: str) -> str:
    servers = results.editors[file]["servers"]
    base = results.server(file, "ruff")
    rows: list[list[str]] = []
    for tool, row in servers.items():
        if results.server(file, tool) is None:
            rows.append([tool, f"{row['missed']} edits without an answer", *[""] * 7])
            continue
        ratio = f"{row['p95_ms'] / base['p95_ms']:.2f}" if base else ""
        figures = [f"{row[name]:.1f}" for name in ("p50_ms", "p95_ms")]
        more = [f"{row['cpu_ms_per_edit']:.1f}", f"{row['spawn_ms']:.0f}", f"{row['open_ms'] or 0:.0f}"]
        rows.append([tool, *figures, ratio, *more, f"{row['private_mb']:.0f}", f"{row['rss_mb']:.0f}"])
    header = [
        "server",
        "p50 ms",
        "p95 ms",
        "p95 to ruff",
        "CPU ms per edit",
        "spawn ms",
        "open ms",
        "private MB",
        "RSS MB",
    ]
    return table(header, rows)
