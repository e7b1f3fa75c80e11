"""What is made for the site is whole: every rule, every setting, every page of docs/ is reached."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from nonstrict.explain.pages import break_ids, page_of
from nonstrict.rules.registry import RULES
from nonstrict.settings.options import OPTIONS
from nonstrict_site import break_pages, measured, playground, setting_pages, terminal
from scripts.generate_rule_docs import GROUPS, page_name

if TYPE_CHECKING:
    from pathlib import Path


def test_every_rule_is_in_the_navigation(site: Path):
    html = (site / "rules" / "index.html").read_text(encoding="utf-8")
    for rule in RULES.values():
        assert f"{page_name(rule).removesuffix('.md')}/" in html
    assert {code[:4] for code in RULES} == set(GROUPS)


def test_every_setting_is_there_with_what_it_takes():
    markdown = setting_pages.settings_page().markdown
    assert re.findall(r"^## (\S+)$", markdown, re.MULTILINE) == list(OPTIONS)
    for option in OPTIONS.values():
        assert option.example in markdown
        assert option.summary in markdown
    section = markdown.partition("## fail-on\n")[2].partition("\n## ")[0]
    assert "- type: one of `error`, `warning`, `note`" in section
    assert '- default: `"warning"`' in section
    assert "- on the command line: `--fail-on`" in section


def test_the_measured_table_loses_no_row():
    whole = (measured.SOURCE, [line for line in measured.text(measured.SOURCE).splitlines() if line.startswith("| `")])
    pages = "\n".join(page.markdown for page in measured.measured_pages(frozenset({"GB0170"})))
    rows = [line for line in pages.splitlines() if line.startswith("| `")]
    assert len(rows) == len(whole[1])
    assert len({row.split("|")[1] for row in rows}) > 1000
    assert "[GB0170](gb0170.md)" in pages
    assert not re.search(r"\[GB\d+\](?!\()", pages)


def test_every_graph_break_has_a_page_and_a_row():
    index, *pages = break_pages.break_pages()
    assert [page.path for page in pages] == [break_pages.path_of(one) for one in break_ids()]
    assert index.markdown.startswith("# ")
    for page in pages:
        assert f"]({page.path.removeprefix('graph-breaks/')})" in index.markdown


def test_a_long_list_of_constructs_is_folded_and_whole():
    markdown = next(page.markdown for page in break_pages.break_pages() if page.path == "graph-breaks/gb0007.md")
    shown, _, folded = markdown.partition("## All constructs")
    names = max((names for _, names in page_of("GB0007").ways), key=len)
    assert len(names) > 100
    assert names[-1] not in shown
    assert all(name in folded for name in names)


def test_links_of_graph_breaks_stay_in_the_site(site: Path):
    html = (site / "graph-breaks" / "gb0124" / "index.html").read_text(encoding="utf-8")
    assert 'href="../../rules/graph-break/"' in html
    assert "blob/main/docs" not in html.partition("<article")[2]


def test_without_a_playground_there_is_no_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    assert playground.ENTRY in playground.playground_files()
    monkeypatch.setattr(playground, "_BUILT", tmp_path)
    with pytest.raises(FileNotFoundError, match="make playground"):
        playground.playground_files()


def test_the_sample_has_the_colors_of_a_terminal():
    shown = terminal.terminal("check examples/options.py")
    assert '<span class="a1 a33">warning[NST701]</span>' in shown
    assert "\x1b" not in shown
    with pytest.raises(RuntimeError, match="found nothing"):
        terminal.terminal("check examples/clean.py")
