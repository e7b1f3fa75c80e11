"""Pages are written for GitHub: the site shows the same lists, tables and code, and its links lead to its own pages."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import pytest
from markdown_it import MarkdownIt

from nonstrict_site import links
from nonstrict_site.dialect import for_python_markdown, with_short_code
from nonstrict_site.sources import REPLACED, ROOT, addresses

if TYPE_CHECKING:
    from pathlib import Path

#: Elements by which a page that was read otherwise would be known.
STRUCTURE = ("blockquote", "code", "em", "h1", "h2", "h3", "li", "ol", "pre", "strong", "table", "td", "tr", "ul")
GITHUB = MarkdownIt("commonmark").enable("table")
PAGES = {
    source: page
    for source, page in addresses().items()
    if page.endswith(".md") and source not in REPLACED and page != "index.md"
}


class Elements(HTMLParser):
    """How many elements of each kind there are, in the whole or in its article."""

    def __init__(self, html: str, *, article: bool = False) -> None:
        super().__init__()
        self.inside = not article
        self.count: Counter[str] = Counter()
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.inside = self.inside or tag == "article"
        self.count[tag] += self.inside and tag in STRUCTURE

    def handle_endtag(self, tag: str) -> None:
        self.inside = self.inside and tag != "article"


@pytest.mark.parametrize("source", PAGES)
def test_a_page_is_read_as_on_github(site: Path, source: str):
    folder = site / PAGES[source].removesuffix(".md").removesuffix("README")
    shown = Elements((folder / "index.html").read_text(encoding="utf-8"), article=True).count
    written = Elements(GITHUB.render((ROOT / source).read_text(encoding="utf-8"))).count
    assert {tag: shown[tag] for tag in STRUCTURE} == {tag: written[tag] for tag in STRUCTURE}


@pytest.mark.parametrize(
    ("source", "target", "page", "expected"),
    [
        ("docs/ci.md", "baseline.md#several-projects", "ci.md", "baseline.md#several-projects"),
        ("docs/ci.md", "#here", "ci.md", "#here"),
        ("docs/ci.md", "https://a.b/c.md", "ci.md", "https://a.b/c.md"),
        ("docs/ci.md", "rules/README.md", "ci.md", "rules/README.md"),
        ("docs/rules/graph-break.md", "../graph-breaks.md", "rules/graph-break.md", "../graph-breaks/README.md"),
        ("docs/ci.md", "../CHANGELOG.md", "ci.md", "changelog.md"),
        ("docs/cache.md", "../bench/results/cache.md", "cache.md", "benchmarks/cache.md"),
        ("docs/ci.md", "../bench", "ci.md", "benchmarks/README.md"),
        ("CHANGELOG.md", "docs/ci.md#a", "changelog.md", "ci.md#a"),
        ("docs/ci.md", "../action.yml", "ci.md", "https://github.com/nonstrict/nonstrict/blob/main/action.yml"),
        ("docs/ci.md", "../examples", "ci.md", "https://github.com/nonstrict/nonstrict/tree/main/examples"),
        ("docs/ci.md", f"{links.REPOSITORY}/blob/main/docs/models.md#a", "graph-breaks/x.md", "../models.md#a"),
        ("docs/ci.md", "nowhere.md", "ci.md", "nowhere.md"),
    ],
)
def test_links_lead_to_the_site_where_it_has_the_page(source: str, target: str, page: str, expected: str):
    assert links.address(target, source, page) == expected
    assert links.rewritten(f"[a `b`]({target})", source, page) == f"[a `b`]({expected})"


def test_pictures_lead_to_the_site():
    markdown = "![a](pictures/chain.png)"
    assert links.rewritten(markdown, "client-vscode/README.md", "vscode/README.md") == markdown
    assert (
        links.rewritten('<img src="client-vscode/icon.svg">', "README.md", "index.md") == '<img src="assets/icon.svg">'
    )


def test_code_holds_no_links():
    code = "`[a](ci.md)` and\n\n```python\nx[0](../README.md)\n```"
    assert links.rewritten(code, "docs/rules/README.md", "rules/README.md") == code


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("```python file=a.py\nx\n```", "```python\nx\n```"),
        ("1. a\n\n       code\n\n2. b", "1. a\n\n        code\n\n2. b"),
        ("- a\n  - b\n    c\n- d", "- a\n    - b\n        c\n- d"),
        ("10. a\n\n    b", "10. a\n\n    b"),
        ("    - code", "    - code"),
        ("- a\n\n  ```text\n  - b\n  ```", "- a\n\n    ```text\n    - b\n    ```"),
        ("```text\n- a\n  b\n```", "```text\n- a\n  b\n```"),
        ("- a\nlazy\n\nb", "- a\nlazy\n\nb"),
        ("a\n- b\n- c", "a\n\n- b\n- c"),
        ("1. a\n   b:\n   - c\n   - d\n2. e", "1. a\n    b:\n\n    - c\n    - d\n2. e"),
        ("1. a\n\n   b\n2. c", "1. a\n\n    b\n\n2. c"),
        ("- a\n  b\n- c", "- a\n    b\n- c"),
    ],
)
def test_lists_and_fences_are_written_for_python_markdown(written: str, expected: str):
    assert for_python_markdown(written) == expected


def test_only_short_code_is_kept_in_one_line():
    assert with_short_code("<code>--ignore</code>") == '<code class="short">--ignore</code>'
    assert with_short_code(f"<code>{'x' * 40}</code>") == f"<code>{'x' * 40}</code>"
