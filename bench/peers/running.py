"""Runs the commands and the servers of all tools in turns, and keeps what they took."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import report
from bench.peers import corpora, tools
from bench.peers.results import Results, commands_of, servers_of

if TYPE_CHECKING:
    from collections.abc import Collection

HERE = Path(__file__).parent
BENCH = HERE.parent
#: How the versions are asked for; TorchFix has none of its own, and says it as a part of flake8.
_VERSIONS = {
    "nonstrict": ["nonstrict", "--version"],
    "ruff": ["ruff", "--version"],
    "ty": ["ty", "--version"],
    "pyrefly": ["pyrefly", "--version"],
    "basedpyright": ["basedpyright", "--version"],
    "TorchFix": ["flake8", "--version"],
}
_VERSION = re.compile(r"(?:TorchFix: |^[a-z]+ )(\d[\w.]*)")


@dataclass(frozen=True)
class Plan:
    """What is to be run, and how often."""

    parts: Collection[str]
    #: The tools.
    wanted: Collection[str]
    #: What is checked and edited.
    subjects: Collection[str]
    runs: int
    edits: int
    #: Synthetic modules of the dense project and of the small one.
    modules: int
    small: int
    #: Whether the slow tools are run on everything.
    slow: bool
    timeout: int
    others: dict[str, Path]
    #: Folders in which programs are sought first.
    programs: tuple[Path, ...]


def environment(plan: Plan) -> dict[str, str]:
    """Where the tools are found, and the environment in which type checkers find torch."""
    return {**report.with_path(*plan.programs), "VIRTUAL_ENV": sys.prefix}


def version(told: str) -> str:
    """The version in what a program says of itself; "" if it says none."""
    match = _VERSION.search(told)
    return match[1] if match else ""


def machine(plan: Plan) -> dict[str, str]:
    """The kind of machine, how busy it was, and the versions of the tools."""
    found = {
        "cores": str(len(os.sched_getaffinity(0))),
        "system": platform.system(),
        "Python": platform.python_version(),
        "load before": f"{os.getloadavg()[0]:.1f}",
    }
    for tool, command in _VERSIONS.items():
        if not _is_wanted(tool, plan.wanted):
            continue
        done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment(plan))
        found[tool] = version(done.stdout)
    return found


def _commands(folder: Path, plan: Plan) -> tuple[dict[str, Any], dict[str, Any]]:
    """All commands on all corpora; what the corpora are, and the figures."""
    synthetic = {corpora.DENSE: plan.modules, corpora.SMALL: plan.small}
    synthetic = {name: count for name, count in synthetic.items() if name in plan.subjects}
    packages = {name: root for name, root in _packages(plan).items() if name in plan.subjects}
    trees = corpora.command_corpora(folder, synthetic, packages, slow=plan.slow)
    written = [
        case.as_written(name)
        for name, tree in trees.items()
        for case in tools.cases(tree.style, tree.slow)
        if case.tool in plan.wanted
    ]
    file = folder / "cases.json"
    file.write_text(json.dumps(written), encoding="utf-8")
    more = ["--timeout", str(plan.timeout), "--scratch", str(folder)]
    more += ["--var", f"env={sys.prefix}", "--var", f"edit={HERE / 'edit.py'}"]
    roots = {name: tree.folder for name, tree in trees.items()}
    measured = report.measure_cases(folder, roots, file, plan.runs, more, environment(plan))
    sizes = {name: {**size, "json": trees[name].style is tools.JSON} for name, size in measured["corpora"].items()}
    return sizes, commands_of(measured)


def _packages(plan: Plan) -> dict[str, Path]:
    torch = report.torch_package()
    return ({corpora.TORCH: torch} if torch else {}) | plan.others


def _editors(folder: Path, plan: Plan) -> dict[str, Any]:
    """All servers on all files that are edited."""
    found: dict[str, Any] = {}
    servers = {name: command for name, command in tools.SERVERS.items() if _is_wanted(tools.tool_of(name), plan.wanted)}
    for name, edited in corpora.edited_files(folder / "edited").items():
        if name not in plan.subjects:
            continue
        out = folder / "server.json"
        command = [sys.executable, str(BENCH / "lsp_bench.py"), "--file", str(edited.file), "--root", str(edited.root)]
        command += ["--edits", str(plan.edits), "--json", str(out)]
        command += ["--edit-func", edited.function] if edited.function else []
        for server, start in servers.items():
            command += ["--server", f"{server}={start}"]
        print(f"  servers: {name}", file=sys.stderr, flush=True)
        if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment(plan)).returncode:
            print(f"no figures for {name}: a server failed", file=sys.stderr)
            continue
        found[name] = servers_of(json.loads(out.read_text(encoding="utf-8")))
    return found


def _is_wanted(tool: str, wanted: Collection[str]) -> bool:
    return any(name.partition(" ")[0] == tool for name in wanted)


def results(folder: Path, plan: Plan) -> Results:
    """Run all of it in a folder of its own."""
    kind = machine(plan)
    sizes, commands = _commands(folder, plan) if "commands" in plan.parts else ({}, {})
    editors = _editors(folder, plan) if "editors" in plan.parts else {}
    return Results(kind, sizes, commands, editors)
