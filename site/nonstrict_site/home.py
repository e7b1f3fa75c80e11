"""The home of the site: its text is `site/pages/home.md`, its sample is what the command prints today."""

from __future__ import annotations

from nonstrict_site.pages import Page
from nonstrict_site.sources import text
from nonstrict_site.terminal import terminal

#: What stands in the text for the output of a command.
_SAMPLE = "{sample}"


def home_page() -> Page:
    """The first page."""
    shown = terminal("check examples/layers.py")
    return Page("index.md", text("site/pages/home.md").replace(_SAMPLE, shown), search=0.5, hide=("navigation", "toc"))
