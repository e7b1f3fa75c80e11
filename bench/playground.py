"""How long the playground takes in a browser: until its first findings, and from a key to what it leads to.

    python bench/playground.py [--runs 5] [--edits 60] [--write]

`make playground` has to be done before. A load is cold in a profile that never saw the page, and warm where the browser
keeps its files. An edit is one key pressed in a program of 100 lines, in the middle of a compiled function; its time
ends when the browser has painted what was found, the pause after which the page asks included. With --write the tables
go to bench/results/playground.md.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import sync_playwright  # noqa: E402

from tests.playground.driving import CHROMIUM, FLAGS, OUT, PATIENCE, Playground, serve  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from playwright.sync_api import BrowserType
    from playwright.sync_api import Page as Window

LINES = 100
#: The programs that the measured one is made of.
PARTS = ("layers", "rotary", "attention_mask", "counter")
#: Notes for each key how long it took until what it led to was painted.
STOPWATCH = """
() => {
    const root = document.querySelector(".nonstrict-playground").shadowRoot;
    const channel = new MessageChannel();
    let pressed = 0;
    let waits = false;
    window.measured = [];
    root.addEventListener("keydown", () => { pressed = performance.now(); waits = true; }, true);
    channel.port1.onmessage = ({ data }) => window.measured.push(performance.now() - data);
    new MutationObserver(() => {
        if (!waits || root.querySelector(".panel").getAttribute("aria-busy") === "true") return;
        waits = false;
        requestAnimationFrame(() => channel.port2.postMessage(pressed));
    }).observe(root.querySelector(".panel"), { attributes: true });
}
"""


class Row(NamedTuple):
    """A measured thing, with its times in seconds."""

    name: str
    times: Sequence[float]

    def __str__(self) -> str:
        ordered = sorted(self.times)
        p95 = ordered[min(len(ordered) - 1, round(len(ordered) * 0.95))]
        told = " | ".join(f"{1_000 * one:,.0f}" for one in (statistics.median(ordered), p95, ordered[-1]))
        return f"| {self.name} | {len(ordered)} | {told} |"


def program() -> str:
    """A program of so many lines, in which several rules find something."""
    parts = [(ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8") for name in PARTS]
    lines = "".join(part.partition("\ndef main")[0] for part in parts).splitlines()
    return "\n".join([*lines[:LINES], *[f"# line {number}" for number in range(len(lines), LINES)]])


def loads(chromium: BrowserType, address: str, runs: int) -> Iterator[tuple[float, float]]:
    """Until the first findings, cold and warm."""
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as profile:
            context = chromium.launch_persistent_context(profile, executable_path=CHROMIUM, args=list(FLAGS))
            window = context.pages[0]
            cold = first_findings(window, address)
            # Browsers keep compiled WebAssembly from the second time on.
            first_findings(window, address)
            yield cold, first_findings(window, address)
            context.close()


def first_findings(window: Window, address: str) -> float:
    """Load the page; how long it takes until it shows findings."""
    window.goto("about:blank")
    begin = time.perf_counter()
    window.goto(f"{address}/index.html")
    window.wait_for_selector(".finding", timeout=PATIENCE)
    return time.perf_counter() - begin


def edits(page: Playground, number: int) -> list[float]:
    """From a key to what it leads to, for letters that come and go in a text of a compiled function."""
    page.is_checked()
    page.write(program())
    page.window.wait_for_timeout(2_000)
    page.window.evaluate(STOPWATCH)
    page.window.locator(".cm-line", has_text="logger.info").click()
    for _ in range(3):
        page.window.keyboard.press("End")
        page.window.keyboard.press("ArrowLeft")
    page.window.evaluate("window.measured.length = 0")
    for index in range(number):
        page.window.keyboard.press("x" if index % 2 == 0 else "Backspace")
        page.is_checked()
        page.window.wait_for_timeout(350)
    return [milliseconds / 1_000 for milliseconds in page.window.evaluate("window.measured")]


def sizes() -> Iterator[str]:
    """The files that a first visit loads."""
    for path in sorted(OUT.rglob("*")):
        if path.is_file() and path.stat().st_size > 100_000:
            yield f"| `{path.relative_to(OUT).as_posix()}` | {path.stat().st_size / 1e6:.1f} |"


def report(runs: int, number: int) -> str:
    """Measure all of it; the tables."""
    with sync_playwright() as playwright, serve(OUT) as address:
        times = list(loads(playwright.chromium, address, runs))
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        version = browser.version
        typed = edits(Playground.open(browser, f"{address}/index.html"), number)
        browser.close()
    rows = [
        Row("first findings, cold", [cold for cold, _ in times]),
        Row("first findings, warm", [warm for _, warm in times]),
        Row(f"edit, {LINES} lines", typed),
    ]
    measured = (
        f"Headless Chromium {version}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.0f} (others work on the "
        "machine), medians of runs by `playground.py`. Times include the pause in typing after which the page asks the "
        "engine, and the painting."
    )
    return "\n".join(
        [
            "# The playground in a browser",
            "",
            measured,
            "",
            "| | times | median (ms) | p95 (ms) | worst (ms) |",
            "|---|---|---|---|---|",
            *map(str, rows),
            "",
            "| file | MB |",
            "|---|---|",
            *sizes(),
            "",
        ]
    )


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description="Times the playground in a browser.")
    parser.add_argument("--runs", type=int, default=5, help="how often the page is loaded")
    parser.add_argument("--edits", type=int, default=60, help="how many keys are pressed")
    parser.add_argument("--write", action="store_true", help="write bench/results/playground.md")
    options = parser.parse_args()
    told = report(options.runs, options.edits)
    print(told)
    if options.write:
        (ROOT / "bench" / "results" / "playground.md").write_text(told, encoding="utf-8")


if __name__ == "__main__":
    main()
