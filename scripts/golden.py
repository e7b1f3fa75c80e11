"""Every finding of the suites, of the corpus and of the examples, one a line: the golden output in tests/golden.

    python scripts/golden.py
    python scripts/golden.py PACKAGE ... --against FOLDER [--store]

The first form rewrites tests/golden. The second compares what is found in package folders with what FOLDER keeps of an
earlier run; what FOLDER has nothing of is kept there, and with --store everything is kept anew. Exit status: 1 if
something differs, 0 otherwise.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import os
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"
#: Of a difference, so many lines are shown.
SHOWN = 80


def main() -> int:
    """Rewrite the golden output, or compare packages."""
    sys.path.insert(0, str(ROOT))
    parser = argparse.ArgumentParser(description="Write down every finding, or compare with what was written down.")
    parser.add_argument("packages", nargs="*", type=Path, metavar="PACKAGE", help="package folders to compare")
    parser.add_argument("--against", type=Path, metavar="FOLDER", help="where the findings in packages are kept")
    parser.add_argument("--store", action="store_true", help="keep what is found now, whatever differs")
    options = parser.parse_args()
    if bool(options.packages) != bool(options.against):
        parser.error("package folders and --against go together")
    if options.packages:
        return _compare_packages(options.packages, options.against, store=options.store)
    for name, findings in GROUPS.items():
        difference = stored(GOLDEN / f"{name}.txt", findings())
        print(f"{name}: {summary(difference)}")
    return 0


def _compare_packages(packages: list[Path], folder: Path, *, store: bool) -> int:
    """Compare each package with the file of its name in the folder, and write the files that are missing."""
    status = 0
    for package in packages:
        found, path = findings_in(package.resolve(strict=True)), folder / f"{package.resolve().name}.txt"
        if store or not path.exists():
            print(f"{package}: kept, {len(found)} findings, {summary(stored(path, found))}")
            continue
        difference = differences(path, found)
        print(f"{package}: {summary(difference)}", *shortened(difference), sep="\n", flush=True)
        status = status or int(bool(difference))
    return status


def findings_of_suites(*options: str) -> list[str]:
    """The findings in the cases of tests/suites, each with the page and the title of its case.

    `options` are further ones of the command line.
    """
    from tests.suites.cases import cases, checked

    lines: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        for page in sorted((ROOT / "tests" / "suites").glob("*.md")):
            found = sorted(cases(page.read_text(encoding="utf-8")), key=lambda case: case.title)
            for number, case in enumerate(found):
                project = Path(place).resolve() / page.stem / str(number)
                project.mkdir(parents=True)
                case.write(project)
                with _working_in(project):
                    lines += [
                        f"{page.stem} | {case.title} | {line}" for line in _lines(checked(project, *options), project)
                    ]
    return lines


def findings_in(folder: Path, *options: str) -> list[str]:
    """The findings in a folder where it is, without its configuration."""
    from tests.suites.cases import checked

    with tempfile.TemporaryDirectory() as place, _working_in(folder):
        found = checked(folder, "--isolated", "--jobs", "1", *options, output=Path(place, "found.json"))
        return _lines(found, folder)


def _lines(found: list[dict[str, Any]], folder: Path) -> list[str]:
    """A line per finding, in the order of files, rows and columns."""
    from tests.suites.cases import name_within

    placed: list[tuple[str, int, int, int, str]] = []
    for finding in found:
        text = " ".join(f"{finding['code']} {finding['severity']} {finding['message']}".split())
        location = finding["location"]
        name = name_within(finding["filename"], folder)
        placed.append((name, finding["cell"] or 0, location["row"], location["column"], text))
    return [
        f"{name}{f'[{cell}]' if cell else ''}:{row}:{column} {text}" for name, cell, row, column, text in sorted(placed)
    ]


@contextlib.contextmanager
def _working_in(folder: Path) -> Generator[None]:
    """Messages name files relative to the working directory."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def differences(path: Path, found: list[str]) -> list[str]:
    """The lines that are gone (`-`) and new (`+`) against a file, with no context; an absent file is an empty one."""
    before = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    compared = list(difflib.unified_diff(before, found, "before", "now", lineterm="", n=0))
    return [line for line in compared[2:] if not line.startswith("@@ ")]


def stored(path: Path, found: list[str]) -> list[str]:
    """Write findings to a file; returns how they differ from what it held."""
    difference = differences(path, found)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in found), encoding="utf-8", newline="\n")
    return difference


def summary(difference: list[str]) -> str:
    """How many findings went and came."""
    gone = sum(line.startswith("-") for line in difference)
    return f"{gone} gone, {len(difference) - gone} new" if difference else "unchanged"


def shortened(difference: list[str]) -> list[str]:
    """The first lines of a difference, and how many there are besides."""
    left = len(difference) - SHOWN
    return [*difference[:SHOWN], f"... and {left} lines more"] if left > 0 else difference


#: The golden files and how their lines are found.
GROUPS: dict[str, Callable[..., list[str]]] = {
    "suites": findings_of_suites,
    "corpus": partial(findings_in, ROOT / "tests" / "corpus" / "cases"),
    "examples": partial(findings_in, ROOT / "examples"),
}

if __name__ == "__main__":
    sys.exit(main())
