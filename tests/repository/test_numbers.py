"""Figures in hand-written pages come from files: `<!-- from: FILE -->` on a line names where its numbers are.

Every number on such a line is one of the file's, rounded as the page rounds it. Ratios (`1.5x`) are figures wherever
they occur, so a line with one has to say where it comes from.
"""

from __future__ import annotations

import re
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GENERATED = {"comparison.md"}
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "client-vscode/README.md")),
    *(path for path in sorted((ROOT / "docs").glob("*.md")) if path.name not in GENERATED),
]
MARK = re.compile(r"<!-- from: (\S+) -->")
NUMBER = re.compile(r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?![\w.]*\d)")
RATIO = re.compile(r"(?<![\w.])\d+(?:\.\d+)?x\b")


def prose(text: str) -> list[str]:
    """The lines of a page outside of blocks of code."""
    kept: list[str] = []
    inside = False
    for line in text.splitlines():
        inside ^= line.lstrip().startswith("```")
        if not inside and not line.startswith("    "):
            kept.append(line)
    return kept


def numbers(text: str) -> list[str]:
    """The numbers in a text, without the commas between thousands."""
    return [number.replace(",", "").rstrip(".") for number in NUMBER.findall(text)]


def rounds_to(measured: str, told: str) -> bool:
    """Whether a number is another one as a page rounds it: 0.85 is 0.9, 3,292 is 3,300."""
    _, _, decimals = told.partition(".")
    zeros = 0 if decimals else len(told) - len(told.rstrip("0"))
    place = Decimal(1).scaleb(-len(decimals) or zeros)
    return Decimal(measured).quantize(place, ROUND_HALF_UP) == Decimal(told)


def unfounded(line: str, sources: str) -> list[str]:
    """The numbers of a line that are none of a text's."""
    known = numbers(sources)
    told = numbers(MARK.sub("", line))
    return [number for number in told if not any(rounds_to(measured, number) for measured in known)]


def marked() -> list[tuple[Path, str]]:
    return [(page, line) for page in PAGES for line in prose(page.read_text(encoding="utf-8")) if MARK.search(line)]


@pytest.mark.parametrize(("page", "line"), marked(), ids=lambda value: str(value)[:40])
def test_the_numbers_are_those_of_the_file(page: Path, line: str):
    sources = [ROOT / name for name in MARK.findall(line)]
    assert numbers(MARK.sub("", line)), "there is no number on this line"
    assert unfounded(line, "\n".join(source.read_text(encoding="utf-8") for source in sources)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_ratios_say_where_they_come_from(page: Path):
    lines = prose(page.read_text(encoding="utf-8"))
    assert [line for line in lines if RATIO.search(line) and not MARK.search(line)] == []


@pytest.mark.parametrize(
    ("line", "missing"),
    [
        ("it takes 0.9 s, 0.08x of another", []),
        ("3,300 lines in 50 MB", []),
        ("it takes 0.8 s, 0.09x of another", ["0.8", "0.09"]),
        ("3,400 lines", ["3400"]),
    ],
)
def test_a_number_may_be_rounded_and_not_invented(line: str, missing: list[str]):
    assert unfounded(line, "| 0.85 | 0.08x | 3,292 lines | 53 |") == missing
