"""Which files of the repository are pages and pictures of the site, and what they are called there."""

from __future__ import annotations

from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "site"
DOCS = "docs/"
REPOSITORY = "https://github.com/nonstrict/nonstrict"

#: Pages that lie outside docs/, by their path in the repository.
_OUTSIDE = {
    "README.md": "index.md",
    "docs/README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "bench/README.md": "benchmarks/README.md",
    "client-vscode/README.md": "vscode/README.md",
}
#: Files of these folders are files of the site, under another folder.
_FOLDERS = {
    "bench/results": ("benchmarks", "*.md"),
    "client-vscode/pictures": ("vscode/pictures", "*.png"),
    "client-vscode": ("assets", "icon.svg"),
    "site/assets": ("assets", "*"),
}
#: Pages of docs/ that the site has under another name, as it has them in several parts.
_SPLIT = {"docs/graph-breaks.md": "graph-breaks/README.md"}
#: Those of which the site has its own version.
REPLACED = frozenset({"README.md", *_SPLIT})


@cache
def addresses() -> dict[str, str]:
    """By the path of a file in the repository, what its page or picture is called among the sources of the site."""
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / DOCS).rglob("*.md")}
    pictures = {path.relative_to(ROOT).as_posix() for path in (ROOT / DOCS / "images").glob("*.svg")}
    found = {path: path.removeprefix(DOCS) for path in pages | pictures} | _OUTSIDE | _SPLIT
    for folder, (name, pattern) in _FOLDERS.items():
        found |= {f"{folder}/{path.name}": f"{name}/{path.name}" for path in (ROOT / folder).glob(pattern)}
    return dict(sorted(found.items()))


def brought() -> dict[str, str]:
    """What lies outside docs/ and is brought into the site as it is: the path there by the path in the repository."""
    return {
        path: address for path, address in addresses().items() if not path.startswith(DOCS) and path not in REPLACED
    }


def text(path: str) -> str:
    """What a file of the repository says."""
    return (ROOT / path).read_text(encoding="utf-8")
