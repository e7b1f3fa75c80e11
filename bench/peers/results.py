"""What a run measured, as it is kept: `bench/results/peers.json`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[1] / "results"
FILE = RESULTS / "peers.json"
#: What a row of `cli_bench.py` and one of `lsp_bench.py` say that is kept: nothing that names a place.
COMMAND_FIGURES = (
    "runs", "cpu_s", "cpu_min", "cpu_max", "wall_s", "private_mb", "pss_mb", "tree_rss_mb", "timed_out", "out_bytes",
)  # fmt: skip
SERVER_FIGURES = (
    "spawn_ms", "open_ms", "p50_ms", "p95_ms", "cpu_ms_per_edit", "private_mb", "rss_mb", "missed", "diags",
)  # fmt: skip


@dataclass(frozen=True)
class Results:
    """The figures of one run, and the kind of machine."""

    machine: dict[str, str]
    #: By the name of a corpus: its files and lines, and whether the tools wrote JSON.
    corpora: dict[str, dict[str, Any]]
    #: By corpus, tool and what was done.
    commands: dict[str, dict[str, dict[str, dict[str, Any]]]]
    #: By the name of a file: its lines, and the figures of each server.
    editors: dict[str, dict[str, Any]]

    def written(self) -> str:
        """The text of the file."""
        return json.dumps(asdict(self), indent=1) + "\n"

    def renewed(self, newer: Results) -> Results:
        """These with what was measured anew in place of the same tables; on another machine, the newer ones alone.

        Ratios hold within a table, which is always of one run. How busy the machine was may differ.
        """
        if _kind(self.machine) != _kind(newer.machine):
            return newer
        machine = {**self.machine, _LOAD: max(self.machine[_LOAD], newer.machine[_LOAD], key=float)}
        return Results(
            machine,
            {**self.corpora, **newer.corpora},
            {**self.commands, **newer.commands},
            {**self.editors, **newer.editors},
        )

    def command(self, corpus: str, tool: str, doing: str) -> dict[str, Any] | None:
        """The figures of a command, if it was run to its end."""
        row = self.commands.get(corpus, {}).get(tool, {}).get(doing)
        return row if row and not row["timed_out"] and not row["failed"] else None

    def server(self, file: str, tool: str) -> dict[str, Any] | None:
        """The figures of a server, if it answered."""
        row = self.editors.get(file, {}).get("servers", {}).get(tool)
        return row if row and row["p95_ms"] is not None and not row["missed"] else None


_LOAD = "load before"


def _kind(machine: dict[str, str]) -> dict[str, str]:
    return {name: told for name, told in machine.items() if name != _LOAD}


def load(path: Path = FILE) -> Results | None:
    """The results of the last run, if there are any."""
    return Results(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def commands_of(measured: dict[str, Any]) -> dict[str, dict[str, dict[str, dict[str, Any]]]]:
    """The rows of `cli_bench.py` by corpus, tool and what was done; those that failed say so, and why on the screen."""
    found: dict[str, dict[str, dict[str, dict[str, Any]]]] = {}
    for row in measured["rows"]:
        failed = bool(set(row["rc"]) - {0, 1}) and not row["timed_out"]
        if failed:
            print(f"{row['case']} failed on {row['corpus']}: {row['tail']}", file=sys.stderr)
        tool, doing = row["labels"]["tool"], row["labels"]["doing"]
        figures = {name: _rounded(row[name]) for name in COMMAND_FIGURES} | {"failed": failed}
        found.setdefault(row["corpus"], {}).setdefault(tool, {})[doing] = figures
    return found


def servers_of(measured: dict[str, Any]) -> dict[str, Any]:
    """The lines of the file and the rows of `lsp_bench.py` by the name of the tool, without options of a server."""
    rows = {
        server.partition("+")[0]: {name: _rounded(row[name]) for name in SERVER_FIGURES}
        | {"edits": len(row["edits_ms"])}
        for server, row in measured["servers"].items()
    }
    return {"lines": measured["lines"], "servers": rows}


def _rounded(value: Any) -> Any:
    """Four significant digits, more than the figures are good for; a figure that is not a number is none."""
    if not isinstance(value, float):
        return value
    return float(f"{value:.4g}") if value == value else None  # noqa: PLR0124 - true of all but NaN
