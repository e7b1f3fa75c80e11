"""Each link of the built site leads somewhere, and no page is made of anything from elsewhere."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

import pytest

if TYPE_CHECKING:
    from pathlib import Path

#: What a browser fetches by itself, by element and attribute.
FETCHED = {
    ("audio", "src"), ("embed", "src"), ("iframe", "src"), ("img", "src"), ("img", "srcset"), ("input", "src"),
    ("link", "href"), ("object", "data"), ("script", "src"), ("source", "src"), ("source", "srcset"), ("track", "src"),
    ("video", "poster"), ("video", "src"),
}  # fmt: skip
#: Those of `link` that only name a page.
NAMES = {"canonical", "next", "prev", "alternate"}
ABSOLUTE = re.compile(r"[a-z][a-z+.-]*:|//", re.IGNORECASE)


class Link(NamedTuple):
    """Where an element leads, and whether a browser goes there by itself."""

    target: str
    fetched: bool


class Document(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.anchors: set[str] = {"", "__top"}
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        self.anchors |= {named[name] for name in ("id", "name") if name in named}
        only_names = tag == "link" and named.get("rel") in NAMES
        for name in ("data", "href", "poster", "src", "srcset"):
            if name in named and (tag, name) != ("button", "data"):
                self.links.append(Link(named[name], (tag, name) in FETCHED and not only_names))


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[Path, Document]:
    return {path: Document(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}


def leads(path: Path, target: str, site: Path, documents: dict[Path, Document]) -> bool:
    """Whether a link of a page leads to a file, and to an anchor if it names one."""
    parts = urlsplit(target)
    # The page for what does not exist is shown at any address, so that its links begin at the top.
    base = site if parts.path.startswith("/") else path.parent
    there = (base / unquote(parts.path.removeprefix("/nonstrict").lstrip("/"))).resolve() if parts.path else path
    there = there / "index.html" if there.is_dir() else there
    if not there.is_file():
        return False
    return not parts.fragment or there not in documents or unquote(parts.fragment) in documents[there].anchors


def test_every_link_leads_somewhere(site: Path, documents: dict[Path, Document]):
    broken = [
        f"{path.relative_to(site)}: {link.target}"
        for path, document in documents.items()
        for link in document.links
        if not ABSOLUTE.match(link.target) and not leads(path, link.target, site, documents)
    ]
    assert broken == []
    assert sum(len(document.links) for document in documents.values()) > 5_000


def test_a_link_that_leads_nowhere_would_be_seen(site: Path, documents: dict[Path, Document]):
    home = site / "index.html"
    assert leads(home, "rules/graph-break/#example", site, documents)
    assert not leads(home, "rules/graph-break/#exampel", site, documents)
    assert not leads(home, "rules/graph-braek/", site, documents)


def test_nothing_is_fetched_from_elsewhere(site: Path, documents: dict[Path, Document]):
    fetched = [
        f"{path.relative_to(site)}: {link.target}"
        for path, document in documents.items()
        for link in document.links
        if link.fetched and ABSOLUTE.match(link.target) and not link.target.startswith("data:")
    ]
    assert fetched == []


def test_styles_fetch_nothing_from_elsewhere(site: Path):
    fetching = re.compile(r"url\(\s*['\"]?(?!data:|#)([^'\")]+)|@import\s+['\"]?([^'\";]+)")
    found = [one for path in site.rglob("*.css") for one in fetching.findall(path.read_text(encoding="utf-8"))]
    assert [one for one in found if ABSOLUTE.match(one[0] or one[1])] == []
