"""A page of the site that no file of docs/ is."""

from __future__ import annotations

from typing import NamedTuple


class Page(NamedTuple):
    """A page: its path among the sources of the site, its Markdown, and how the search treats it."""

    path: str
    markdown: str
    search: float = 1.0
    """How much its hits count beside those of other pages; 0 leaves it out of the search."""
    hide: tuple[str, ...] = ()
    """What is not shown beside it: `toc`, `navigation`."""

    def source(self) -> str:
        """The Markdown with its front matter."""
        search = f"  boost: {self.search}" if self.search else "  exclude: true"
        hidden = "".join(f"\n  - {part}" for part in self.hide)
        return f"---\nsearch:\n{search}\n{f'hide:{hidden}' + chr(10) if hidden else ''}---\n{self.markdown}"
