"""The measured table of graph breaks, too long for one page: here each of its sections has one."""

from __future__ import annotations

import re
from typing import NamedTuple

from nonstrict_site.links import rewritten
from nonstrict_site.pages import Page
from nonstrict_site.sources import addresses, text

SOURCE = "docs/graph-breaks.md"
_FOLDER = "graph-breaks"
_COMMENT = re.compile(r"^<!--.*?-->\s*", re.DOTALL)
_SECTION = re.compile(r"^## (?P<title>.+)$", re.MULTILINE)
_DEFINITION = re.compile(r"^\[(?P<id>GB\d+)\]: \S+\n?", re.MULTILINE)
_USED = re.compile(r"\[(GB\d+)\](?!\()")
#: What the page of a section says first.
_ABOUT = "Which of these break the graph, and with which of torch's ids: a part of [the measured table](README.md)."
#: From so many rows on, a reader looks for words instead of reading.
_FILTERED = 30


class Section(NamedTuple):
    """A part of the table: its title, what the page is called, its text without the heading."""

    title: str
    path: str
    body: str


def head_and_sections() -> tuple[str, list[Section]]:
    """What the page of docs/ says first, and its sections, each without definitions of links."""
    parts = _SECTION.split(_DEFINITION.sub("", text(SOURCE)))
    titles, bodies = parts[1::2], parts[2::2]
    sections = [
        Section(title, f"{_FOLDER}/{_named(title)}.md", body) for title, body in zip(titles, bodies, strict=True)
    ]
    return parts[0], sections


def measured_pages(known: frozenset[str]) -> list[Page]:
    """A page for each section but the last, which is the index of ids; `known` are the ids with pages of their own."""
    _, sections = head_and_sections()
    return [
        Page(
            section.path,
            f"# {section.title}\n\n{_ABOUT}\n{_filtered(linked(section.body, known))}",
            search=0,
            hide=("toc",),
        )
        for section in sections[:-1]
    ]


def linked(markdown: str, known: frozenset[str]) -> str:
    """The text of a page in this folder, with its ids as links to their pages."""
    return _USED.sub(lambda match: f"[{match[1]}]({match[1].lower()}.md)" if match[1] in known else match[1], markdown)


def _filtered(body: str) -> str:
    """A table with a field that filters its rows, where it is long."""
    return f'\n<div class="filtered" markdown>\n{body}\n</div>\n' if body.count("\n| ") > _FILTERED else body


def _named(title: str) -> str:
    return re.sub(r"[^a-z]+", "-", title.lower()).strip("-")


def head() -> str:
    """What the page of docs/ says first, for the index of this folder: a title has to come before all else."""
    return rewritten(_COMMENT.sub("", head_and_sections()[0]), SOURCE, addresses()[SOURCE])
