"""What MkDocs asks while it builds the site: which pages there are besides docs/, their order, where links lead."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from nonstrict_site.break_pages import FOLDER, INDEX
from nonstrict_site.build import navigation_of_site, pages_of_site, search_of
from nonstrict_site.dialect import with_short_code, with_wrapped_texts
from nonstrict_site.links import rewritten
from nonstrict_site.playground import playground_files
from nonstrict_site.sources import DOCS, REPLACED, ROOT, brought

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Gives the site its navigation."""
    config.nav = navigation_of_site()
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Takes in what is made, and what lies elsewhere in the repository."""
    for path in REPLACED:
        there = files.get_file_from_path(path.removeprefix(DOCS))
        if there is not None:
            files.remove(there)
    for path, address in brought().items():
        if path.endswith(".md"):
            content = rewritten((ROOT / path).read_text(encoding="utf-8"), path, address)
            files.append(File.generated(config, address, content=content))
        else:
            files.append(File.generated(config, address, abs_src_path=str(ROOT / path)))
    for address, path in playground_files().items():
        files.append(File.generated(config, address, abs_src_path=str(path)))
    for page in pages_of_site():
        files.append(File.generated(config, page.path, content=page.source()))
    return files


def on_nav(nav: Navigation, config: MkDocsConfig, files: Files) -> Navigation:
    """Shows the section of graph breaks beside each of their pages, which it does not list."""
    index = files.get_file_from_path(INDEX)
    if index is None or index.page is None:
        raise ValueError(f"there is no {INDEX}")
    for file in files.documentation_pages():
        if file.page is not None and file.page.parent is None and file.src_uri.startswith(f"{FOLDER}/"):
            file.page.parent = index.page.parent
    return nav


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Bends the links of pages in docs/ that lead out of it, and says how the search treats them."""
    path = page.file.src_uri
    search = search_of(path)
    if search is not None:
        page.meta.setdefault("search", search)
    if page.file.generated_by:
        return markdown
    bent = rewritten(markdown, DOCS + path, path)
    return with_wrapped_texts(bent) if path.startswith("rules/") else bent


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Keeps short code in one line."""
    return with_short_code(html)
