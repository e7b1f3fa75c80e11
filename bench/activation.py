"""From the activation of the VS Code extension to its first diagnostic, beside a client of ruff's server.

    python bench/activation.py [--runs 8] [--modules 1000] [--write]

Both run in a real workbench (`make test` installs it), in turns, each in an editor of its own. `activation/stopwatch`
is an extension that measures inside the editor: it activates the extension in question, opens a file, and waits for the
first diagnostic of that file. The base is `activation/ruff_client`, the least that starts `ruff server` with the client
library that ours has; ruff's own extension is not to be had from the package registries.

fresh     no cache of an earlier session
again     with the cache that the last session left
The project is one of `gen_project.py`, and the file has a finding for each of the two. With --write the table goes to
bench/results/activation.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.workbench.code_server import EXTENSION, CodeServer, Place, install, missing, packaged  # noqa: E402
from tests.workbench.conftest import CHROMIUM  # noqa: E402

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

PARTS = ROOT / "bench" / "activation"
RUFF = Path(sys.executable).with_name("ruff")
SECONDS = 120
#: `os` is not used, and `SCALE` is frozen.
MEASURED = """\
import os

import torch
from torch._dynamo import nonstrict_trace

SCALE = torch.ones(3)


@nonstrict_trace
def scaled(x):
    return x * SCALE
"""


class Times(NamedTuple):
    """Seconds since the activation of an extension began: until it was activated, until its first diagnostic."""

    activated: float
    diagnostic: float


class Case(NamedTuple):
    """A row: an extension, and whether the cache of its last session stays."""

    name: str
    server: CodeServer
    source: str
    keeps_cache: bool


def packed(extension: Path, folder: Path) -> Path:
    """Pack one of our small extensions; the package."""
    made = folder / extension.name
    shutil.copytree(extension, made)
    if "out/" in (extension / "package.json").read_text(encoding="utf-8"):
        bundling = ["--bundle", "--platform=node", "--external:vscode", f"--outfile={made / 'out' / 'extension.js'}"]
        subprocess.run(
            ["npx", "esbuild", str(extension / "extension.js"), *bundling, "--log-level=error"], cwd=ROOT, check=True
        )
    (made / "README.md").write_text("A part of bench/activation.py.\n", encoding="utf-8")
    package = folder / f"{extension.name}.vsix"
    options = ["--no-dependencies", "--allow-missing-repository", "--skip-license", "--out", str(package)]
    vsce = ROOT / "node_modules" / ".bin" / "vsce"
    subprocess.run([str(vsce), "package", *options], cwd=made, check=True, capture_output=True)
    return package


def editor(name: str, extension: str, vsix: list[Path], folder: Path) -> CodeServer:
    """An editor with some extensions; the stopwatch measures one of them."""
    place = Place(folder / name / "data", folder / name / "extensions")
    for each in vsix:
        install(each, place)
    settings = {"nonstrict.interpreter": [sys.executable], "nonstrict.importStrategy": "useBundled"}
    return CodeServer(place, settings, environment={"BENCH_EXTENSION": extension, "BENCH_RUFF": str(RUFF)})


def measured(browser: BrowserContext, case: Case, project: Path) -> Times:
    """Open the project once in an editor.

    Raises:
        TimeoutError: there is no diagnostic.
    """
    if not case.keeps_cache:
        shutil.rmtree(project / ".nonstrict_cache", ignore_errors=True)
    result = project / "stopwatch.json"
    result.unlink(missing_ok=True)
    page = browser.new_page()
    page.goto(f"{case.server.address}/?folder={project}")
    end = time.monotonic() + SECONDS
    while not result.exists() or not (text := result.read_text(encoding="utf-8")):
        if time.monotonic() > end:
            raise TimeoutError(f"{case.name}: no diagnostic within {SECONDS} s")
        page.wait_for_timeout(100)
    # What the last session found is kept when it ends.
    page.close()
    told = json.loads(text)
    if told["source"].lower() != case.source:
        raise ValueError(f"{case.name}: the first diagnostic is one of {told['source']}")
    return Times(told.get("activated", told["diagnostic"]), told["diagnostic"])


def table(rows: dict[str, list[Times]], options: argparse.Namespace) -> str:
    """The figures, each beside the base, which is the first row."""
    base = statistics.median(times.diagnostic for times in next(iter(rows.values())))
    conditions = (
        f"Python {platform.python_version()}, {os.cpu_count()} processors, code-server, a project of "
        f"{options.modules:,} modules; medians of {options.runs} runs in turns (`activation.py`). The base is not "
        "ruff's own extension, which looks for interpreters and settings first, but the least that starts its server."
    )
    lines = [
        "# From activation to the first diagnostic",
        "",
        conditions,
        "",
        "| extension | activated (s) | first diagnostic (s) | worst | ratio |",
        "|---|---|---|---|---|",
    ]
    for name, times in rows.items():
        activated = statistics.median(each.activated for each in times)
        first = [each.diagnostic for each in times]
        median = statistics.median(first)
        lines.append(f"| {name} | {activated:.2f} | {median:.2f} | {max(first):.2f} | {median / base:.1f}x |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--modules", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if reason := missing():
        sys.exit(reason)
    with ExitStack() as ending, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        project = folder / "project"
        generator = [sys.executable, str(ROOT / "bench" / "gen_project.py")]
        subprocess.run(
            [*generator, "--modules", str(options.modules), "--out", str(project)], check=True, stdout=sys.stderr
        )
        (project / "measured.py").write_text(MEASURED, encoding="utf-8")
        stopwatch = packed(PARTS / "stopwatch", folder)
        ruff = editor("ruff", "bench.ruff-client", [packed(PARTS / "ruff_client", folder), stopwatch], folder)
        ending.callback(ruff.close)
        ours = editor("ours", EXTENSION, [packaged(), stopwatch], folder)
        ending.callback(ours.close)
        cases = (
            Case("client of ruff's server", ruff, "ruff", keeps_cache=True),
            Case("nonstrict, fresh", ours, "nonstrict", keeps_cache=False),
            Case("nonstrict, again", ours, "nonstrict", keeps_cache=True),
        )
        rows: dict[str, list[Times]] = {case.name: [] for case in cases}
        playwright = ending.enter_context(sync_playwright())
        program = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM))
        browser = program.new_context()
        for run in range(options.runs + 1):
            for case in cases:
                times = measured(browser, case, project)
                if run:
                    # The first one fills the caches of the system and of the browser.
                    rows[case.name].append(times)
        program.close()
        text = table(rows, options)
    print(text, end="")
    if options.write:
        (ROOT / "bench" / "results" / "activation.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
