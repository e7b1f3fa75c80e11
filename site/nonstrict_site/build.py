"""All that is made for the site: its pages besides docs/, and its navigation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.explain.pages import break_ids
from nonstrict_site import break_pages, home, measured, playground, setting_pages
from nonstrict_site.navigation import navigation

if TYPE_CHECKING:
    from typing import Any

    from nonstrict_site.pages import Page


def pages_of_site() -> list[Page]:
    """The pages that are made, each once."""
    return [
        home.home_page(),
        playground.playground_page(),
        setting_pages.settings_page(),
        *break_pages.break_pages(),
        *measured.measured_pages(frozenset(break_ids())),
    ]


def navigation_of_site() -> list[Any]:
    """The navigation, as MkDocs reads it."""
    return navigation()


def search_of(path: str) -> dict[str, object] | None:
    """How the search treats a page of docs/."""
    if path == "recompilation.md":
        return {"exclude": True}
    if path.startswith("rules/") and path != "rules/README.md":
        return {"boost": 2}
    return None
