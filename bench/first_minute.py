"""Times the first minute of a user in VS Code: from opening a file with `@torch.compile` to its breaks, to a verdict.

    bench/first_minute.py [--times 5] [--write]

Each time, a window is opened on a new copy of a project of fifteen files with plain regions, in the workbench that the
tests drive (`make package`, `scripts/workbench.sh .workbench`). The clock starts when the file is chosen in the list of
files, with the server of the window running, and stops when the line above the region is drawn. It starts again with a
click on "confirm", and stops when that line tells a verdict. The first time is cold: nothing was started or compiled
since the workbench began. `--write` puts the figures into
`results/first_minute.md`.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT)]

from playwright.sync_api import Browser, expect, sync_playwright  # noqa: E402

from tests.workbench.code_server import CodeServer, Place, install, missing, packaged  # noqa: E402
from tests.workbench.conftest import CHROMIUM, SETTINGS  # noqa: E402
from tests.workbench.driving import COMPILING, PATIENCE, Workbench  # noqa: E402
from tests.workbench.projects import FILES, training  # noqa: E402


class Times(NamedTuple):
    """Seconds from opening the file to the line above the region, and from the click to the verdict."""

    breaks: float
    verdict: float


def timed(browser: Browser, server: CodeServer, folder: Path) -> Times:
    """One user's first minute."""
    page = browser.new_page(viewport={"width": 1360, "height": 820})
    page.set_default_timeout(PATIENCE)
    workbench = Workbench(page, server.address)
    workbench.open(folder)
    workbench.open_file("layers.py")
    expect(workbench.status()).to_be_visible()
    began = time.perf_counter()
    workbench.open_file("train.py")
    expect(workbench.lens("2 breaks")).to_be_visible()
    shown = time.perf_counter()
    workbench.press_lens("confirm")
    expect(workbench.lens("confirmed")).to_be_visible(timeout=COMPILING)
    told = time.perf_counter()
    page.close()
    return Times(shown - began, told - shown)


def page_of(found: list[Times]) -> str:
    """The figures as a page."""
    warm = found[1:]
    lines = [
        "# The first minute in VS Code",
        "",
        f"`bench/first_minute.py --times {len(found)}`, one run on {FILES} files, 2 processors, no GPU; seconds.",
        "",
        "| | first time | later, median | least | most |",
        "|---|---|---|---|---|",
    ]
    for name, seconds in (
        ("opening `train.py` to its graphs and breaks", [one.breaks for one in found]),
        ('a click on "confirm" to a verdict', [one.verdict for one in found]),
    ):
        later = seconds[1:] if warm else seconds
        bounds = f"{statistics.median(later):.1f} | {min(later):.1f} | {max(later):.1f}"
        lines.append(f"| {name} | {seconds[0]:.1f} | {bounds} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    if reason := missing():
        raise SystemExit(reason)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made, sync_playwright() as playwright:
        place = Place(Path(made) / "code-server", Path(made) / "extensions")
        install(packaged(), place)
        server = CodeServer(place, SETTINGS)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(CHROMIUM))
        folders = (Path(made) / f"training{number}" for number in range(options.times))
        found = [timed(browser, server, training(folder)) for folder in folders]
        browser.close()
        server.close()
    page = page_of(found)
    sys.stdout.write(page)
    if options.write:
        (ROOT / "bench" / "results" / "first_minute.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
