"""The commands that README.md and the pages in docs show: in blocks, in running text, as options in tables."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "client-vscode" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
#: The commands whose options a page lists in tables; of all other pages they are those of `nonstrict check`.
OPTIONS_OF = {
    "docs/audit.md": "nonstrict audit model.py::attend {}",
    "docs/budget.md": "nonstrict budget {}",
    "docs/confirm.md": "nonstrict confirm {} FILE",
    "docs/editors.md": "nonstrict server {}",
    "docs/record.md": "nonstrict record {} -- true",
    "docs/regions.md": "nonstrict regions {}",
    "docs/watch.md": "nonstrict check --watch {}",
}
#: Pages whose tables do not list options of a command.
_WITHOUT_OPTIONS = ("CONTRIBUTING.md", "docs/README.md", "docs/architecture.md", "docs/graph-breaks.md")
_FENCE = re.compile(r"^(?P<indent> *)```(?P<info>[^\n]*)\n(?P<text>.*?)^ *```$", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"(?:^ {4}.*\n)+", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_RUN = re.compile(r"(?:nonstrict(?: [a-z]| --version)|pytest --nonstrict)")
#: Options after these are those of `nonstrict check`, which a cell names as another way.
_SERVERS = ("nonstrict mcp", "nonstrict server")
_OPTION = re.compile(r"--[a-z]|-[a-z](?: |$)")


class Block(NamedTuple):
    """A fenced block: its language, its text, the line that it begins in."""

    language: str
    text: str
    line: int


class Shown(NamedTuple):
    """A command as a page shows it; `output` is what the page says that it prints, if it does."""

    page: str
    line: int
    text: str
    output: str | None = None

    @property
    def place(self) -> str:
        """For messages, and as the name of a test."""
        return f"{self.page}:{self.line}: {self.text}"


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page."""
    return [
        Block(
            found["info"].partition(" ")[0],
            re.sub(rf"^{found['indent']}", "", found["text"], flags=re.MULTILINE),
            text.count("\n", 0, found.start()) + 2,
        )
        for found in _FENCE.finditer(text)
    ]


def texts() -> dict[str, str]:
    """Pages by their path in the repository."""
    return {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}


def transcripts() -> list[list[Shown]]:
    """The commands of each block that shows what commands print, in the order in which they are run."""
    return [
        list(_transcript(name, block.line, block.text))
        for name, text in texts().items()
        for block in [*blocks(text), *_indented(text)]
        if block.language == "console"
    ]


def shown() -> list[Shown]:
    """All other commands of all pages."""
    return [command for name, text in texts().items() for command in _of_page(name, text)]


def _of_page(name: str, text: str) -> Iterator[Shown]:
    without = _FENCE.sub(_blank, text)
    prose = _INDENTED.sub(_blank, without)
    for block in [*blocks(text), *_indented(without)]:
        if block.language == "sh":
            yield from _lines(name, block.line, block.text)
    yield from _inline(name, prose)
    yield from _options(name, prose)


def _blank(found: re.Match[str]) -> str:
    return "\n" * found[0].count("\n")


def _indented(text: str) -> Iterator[Block]:
    """Blocks that are indented and hold commands."""
    for found in _INDENTED.finditer(_FENCE.sub(_blank, text)):
        code = re.sub("^ {4}", "", found[0], flags=re.MULTILINE)
        if re.match(r"\$ |nonstrict [a-z]|make |pip ", code):
            line = text.count("\n", 0, found.start()) + 1
            yield Block("console" if code.startswith("$ ") else "sh", code, line)


def _lines(name: str, line: int, code: str) -> Iterator[Shown]:
    for number, one in enumerate(code.splitlines(), line):
        if command := re.sub(r"\s+# .*|^#.*", "", one).strip():
            yield Shown(name, number, command)


def _transcript(name: str, line: int, code: str) -> Iterator[Shown]:
    for found in re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", code, re.MULTILINE):
        yield Shown(name, line + code.count("\n", 0, found.start()), found[1], found[2].strip("\n") or None)


def _inline(name: str, prose: str) -> Iterator[Shown]:
    for found in _INLINE.finditer(prose):
        if _RUN.match(found[1]):
            yield Shown(name, prose.count("\n", 0, found.start()) + 1, found[1].replace("\\|", "|"))


def _options(name: str, prose: str) -> Iterator[Shown]:
    """Options in the first two cells of a row: of the command before them, else of the one that the page is about."""
    if name in _WITHOUT_OPTIONS:
        return
    rows = prose.splitlines()
    for number, (row, following) in enumerate(zip(rows, [*rows[1:], ""], strict=True), 1):
        if not row.startswith("|") or following.startswith("|--"):
            continue
        for cell in row.strip("|").replace("\\|", "¦").split("|")[:2]:
            command = OPTIONS_OF.get(name, "nonstrict check {}")
            codes = _INLINE.findall(cell)
            if not codes or not (name == "README.md" or cell.lstrip().startswith("`")):
                continue
            for code in codes:
                if _RUN.match(code) and not code.startswith(_SERVERS):
                    command = re.sub(r" --?[a-z].*", "", code).removesuffix(" ...") + " {}"
                elif _OPTION.match(code):
                    yield Shown(name, number, command.format(code.replace("¦", "|")))
