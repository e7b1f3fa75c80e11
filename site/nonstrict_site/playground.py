"""The page of the playground, and the files of what `make playground` built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict_site.pages import Page
from nonstrict_site.sources import SITE, text

if TYPE_CHECKING:
    from pathlib import Path

PATH = "playground.md"
#: What every page of the site loads: it opens the playground, and offers to try the examples of rules.
ENTRY = "playground/assets/embed.js"
_BUILT = SITE / "playground" / "out"
_ASSETS = "playground/assets"
#: The page on its own, and tests: the site has none of them.
_LEFT_OUT = ("index.html", "test/")


def playground_page() -> Page:
    """The page, as wide as the window."""
    return Page(PATH, text("site/pages/playground.md"), hide=("navigation", "toc"))


def playground_files() -> dict[str, Path]:
    """The files that were built, by their path in the site.

    Raises:
        FileNotFoundError: the playground was not built.
    """
    built = {path.relative_to(_BUILT).as_posix(): path for path in sorted(_BUILT.rglob("*")) if path.is_file()}
    files = {f"{_ASSETS}/{name}": path for name, path in built.items() if not name.startswith(_LEFT_OUT)}
    if ENTRY not in files:
        raise FileNotFoundError(f"there is no playground in {_BUILT}: run `make playground`")
    return files
