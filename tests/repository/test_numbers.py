"""Figures in hand-written pages come from files: `<!-- from: FILE -->` in a paragraph, an item of a list or a row of a
table names where its numbers are.

Every number there is one of the file's, rounded as the page rounds it. Ratios (`1.5x`), times, sizes, shares and counts
(`96 of 1930`) are figures wherever they occur, so that a part with one has to say where it comes from.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Written by programs: `bench.comparison`, `bench.peers`, and the measured tables of `scripts/`.
GENERATED = {"comparison.md", "cuda-graphs.md", "graph-breaks.md", "recompilation.md", "speed.md"}
#: Its tables are its source: `test_field_report` counts them.
REPORT = ROOT / "docs" / "field-report.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "bench/README.md", "client-vscode/README.md")),
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if path.name not in GENERATED),
    *sorted((ROOT / "site" / "pages").glob("*.md")),
]
MARK = re.compile(r"<!-- from: (\S+) -->")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")
FIGURE = re.compile(
    r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:x\b| ?%| ?(?:s|ms|µs|kB|MB|GB|seconds?|minutes?|hours?)\b| of (?:the )?\d)"
)
CODE = re.compile(r"`[^`]*`")
#: What is meant to be reached, not what was measured.
AIMS = "## Targets"
#: Limits and settings, which are no measurements.
LIMITS = (
    "more than 400 kB of marked code",
    "holds up to 128 MB",
    "compared by value, up to 4 MB",
    "each for up to 30 s",
    "limits one run (60 s)",
    "Above 2 GB",
)


def parts(text: str) -> list[str]:
    """The paragraphs, items of lists and rows of tables of a page, outside of blocks of code and of aims."""
    found = [""]
    is_code = is_aim = False
    for line in text.splitlines():
        fence = line.lstrip().startswith("```")
        is_code ^= fence
        is_aim = line.startswith(AIMS) or (is_aim and not line.startswith("## "))
        if fence or is_code or is_aim or line.startswith("    ") or not line:
            found.append("")
        elif re.match(r" *([-*+] |\d+\. |[|#])", line):
            found.append(line)
        else:
            found[-1] += f" {line}"
    return [part.strip() for part in found if part]


def numbers(text: str) -> list[str]:
    """The numbers in a text, without the commas between thousands."""
    return [number.replace(",", "").rstrip(".") for number in NUMBER.findall(text)]


def rounds_to(measured: str, told: str) -> bool:
    """Whether a number is another one as a page rounds it: 0.85 is 0.9, 3,292 is 3,300."""
    _, _, decimals = told.partition(".")
    zeros = 0 if decimals else len(told) - len(told.rstrip("0"))
    place = Decimal(1).scaleb(-len(decimals) or zeros)
    return Decimal(measured).quantize(place, ROUND_HALF_UP) == Decimal(told)


def unfounded(part: str, sources: str) -> list[str]:
    """The numbers of a part that are none of a text's."""
    known = numbers(sources)
    told = numbers(MARK.sub("", part))
    return [number for number in told if not any(rounds_to(measured, number) for measured in known)]


def unmarked(part: str) -> list[str]:
    """The figures of a part that says nowhere where they come from."""
    text = CODE.sub("", part)
    for limit in LIMITS:
        text = text.replace(limit, "")
    return [] if MARK.search(part) else FIGURE.findall(text)


def marked() -> list[tuple[Path, str]]:
    return [(page, part) for page in PAGES for part in parts(page.read_text(encoding="utf-8")) if MARK.search(part)]


@pytest.mark.parametrize(("page", "part"), marked(), ids=lambda value: str(value)[:40])
def test_the_numbers_are_those_of_the_file(page: Path, part: str):
    sources = [ROOT / name for name in MARK.findall(part)]
    assert numbers(MARK.sub("", part)), "there is no number here"
    assert unfounded(part, "\n".join(source.read_text(encoding="utf-8") for source in sources)) == []


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page != REPORT], ids=lambda page: page.relative_to(ROOT).as_posix()
)
def test_figures_say_where_they_come_from(page: Path):
    assert [part for part in parts(page.read_text(encoding="utf-8")) if unmarked(part)] == []


@pytest.mark.parametrize("limit", LIMITS)
def test_every_limit_is_on_a_page(limit: str):
    assert any(limit in part for page in PAGES for part in parts(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("part", "missing"),
    [
        ("it takes 0.9 s, 0.08x of another", []),
        ("3,300 lines in 50 MB", []),
        ("it takes 0.8 s, 0.09x of another", ["0.8", "0.09"]),
        ("3,400 lines", ["3400"]),
    ],
)
def test_a_number_may_be_rounded_and_not_invented(part: str, missing: list[str]):
    assert unfounded(part, "| 0.85 | 0.08x | 3,292 lines | 53 |") == missing


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("twice, 1.5x", 1),
        ("in 0.9 s", 1),
        ("about 50 MB of memory", 1),
        ("at most 2 % of the time", 1),
        ("96 of 1,930 programs", 1),
        ("in 0.9 s <!-- from: FILE -->", 0),
        ("in 0.9 s\nand that\non three lines <!-- from: FILE -->", 0),
        ("- in 0.9 s\n- and that <!-- from: FILE -->", 1),
        ("limits one run (60 s)", 0),
        ("`--minutes 3 s`, torch 2.13, line 9 of a file, 3 sets", 0),
        ("```\nin 0.9 s\n```", 0),
        ("## Targets\n\nin 0.9 s\n\n## Others\n\nin 3 s", 1),
    ],
)
def test_what_is_a_figure(text: str, figures: int):
    assert sum(len(unmarked(part)) for part in parts(text)) == figures
