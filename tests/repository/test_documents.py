"""Generated documents say what the code says now; `make docs` brings them up to date."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nonstrict.rules.registry import RULES
from scripts import generate_rule_docs, update_readme

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")
PAGES = sorted(
    path
    for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    if path.is_file()
)


def test_rule_pages_are_up_to_date():
    assert generate_rule_docs.stale(generate_rule_docs.pages(RULES.values())) == [], "run `make docs`"


def test_every_rule_has_a_page_of_its_own():
    names = [generate_rule_docs.page_name(rule) for rule in RULES.values()]
    assert len(set(names)) == len(names) == len(RULES)


@pytest.mark.parametrize("page", update_readme.PAGES, ids=lambda page: page.name)
def test_the_output_in_pages_is_real(page: Path):
    text = page.read_text(encoding="utf-8")
    assert update_readme.BLOCK.search(text), "it shows no output"
    assert update_readme.updated(text) == text, "run `make docs`"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_between_pages_lead_somewhere(path: Path):
    broken = [
        target for target in LINK.findall(path.read_text(encoding="utf-8")) if not (path.parent / target).exists()
    ]
    assert not broken
