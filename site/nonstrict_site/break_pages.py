"""The pages of graph breaks: an index of torch's ids, and a page for each, as `nonstrict explain` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.explain.pages import break_ids, break_page, page_of
from nonstrict.rules.registry import RULES
from nonstrict_site import measured
from nonstrict_site.dialect import with_wrapped_texts
from nonstrict_site.links import rewritten
from nonstrict_site.pages import Page
from scripts.generate_rule_docs import page_name

if TYPE_CHECKING:
    from nonstrict.explain.pages import BreakPage

FOLDER = "graph-breaks"
INDEX = f"{FOLDER}/README.md"
#: Hits in these pages count so much: torch's messages are looked for here.
_BOOST = 2.0
#: From so many constructs on, a page names some of a way out, and has all of them folded below.
_FOLDED = 13


def break_pages() -> list[Page]:
    """The index first."""
    return [_index(), *(Page(path_of(one), _whole(one), search=_BOOST) for one in break_ids())]


def path_of(identifier: str) -> str:
    """The path of the page of an id."""
    return f"{FOLDER}/{identifier.lower()}.md"


def _whole(identifier: str) -> str:
    """The page of an id, with all constructs that it names only some of."""
    page = page_of(identifier)
    path = path_of(identifier)
    markdown = with_wrapped_texts(rewritten(break_page(identifier), path, path))
    folded = [_folded(way, names) for way, names in page.ways if len(names) >= _FOLDED]
    return markdown + ("\n## All constructs\n\n" + "\n".join(folded) if folded else "")


def _folded(way: str, names: tuple[str, ...]) -> str:
    shown = " ".join(f"``{name}``" if "`" in name else f"`{name}`" for name in names)
    title = f"{len(names)} constructs: {way}"
    return f'<details markdown="1">\n<summary markdown="span">{title}</summary>\n\n{shown}\n\n</details>\n'


def _index() -> Page:
    sections = "\n".join(
        f"- [{section.title}]({section.path.removeprefix(f'{FOLDER}/')})"
        for section in measured.head_and_sections()[1][:-1]
    )
    pages = [page_of(one) for one in break_ids()]
    markdown = f"""\
{measured.head()}
## By construct

{sections}

## By id

Torch has {len(pages)} ids. Those with constructs in the measured table come first.

<div class="filtered" markdown data-search-exclude>

| id | torch says | constructs | reported by |
|---|---|---:|---|
{chr(10).join(map(_row, sorted(pages, key=lambda page: not page.ways)))}

</div>
"""
    return Page(INDEX, markdown)


def _row(page: BreakPage) -> str:
    title = page.title.replace("|", r"\|").replace("<", "&lt;")
    constructs = sum(len(names) for _, names in page.ways) or ""
    rules = ", ".join(f"[{code}](../rules/{page_name(RULES[code])})" for code in page.rules)
    return f"| [{page.id}]({page.id.lower()}.md) | {title} | {constructs} | {rules} |"
