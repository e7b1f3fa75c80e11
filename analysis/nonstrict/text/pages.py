"""Documentation pages (Markdown, MyST, reStructuredText, plain text): their Python fences and prompt sessions."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from nonstrict.text.collapsed import restored
from nonstrict.text.decode import normalised
from nonstrict.text.notebook import masked_cell
from nonstrict.text.source import Cell, Origin, Source, SourceKind

_PYTHON = frozenset({"python", "python3", "py", "py3", "pycon", "ipython", "ipython3", "pycon3", "python-repl"})
# Directives whose content is Python when no language is named.
_CODE_DIRECTIVES = frozenset(
    {"code-cell", "jupyter-execute", "testcode", "testsetup", "testcleanup", "doctest", "python"}
)
# Directives whose content is code in the language that is named.
_LANGUAGE_DIRECTIVES = frozenset({"code-block", "code", "sourcecode", "ipython"})
_OPAQUE_DIRECTIVES = frozenset({"eval-rst", "literalinclude", "math", "mermaid", "raw", "testoutput"})

_FENCE = re.compile(r"(?P<prefix>[ \t>]*(?:(?:[-*+]|\d+[.)])[ \t]+)*)(?P<marks>`{3,}|~{3,})(?P<info>[^`]*)$")
_LINE_FENCE = re.compile(
    r"(`{3,})(?!`)(?P<info>\{[\w.-]+\}(?:[ \t]+i?python3?(?=\s))?|[\w+.-]+)[ \t]+(?P<body>.*?)[ \t]*\1(?!`)"
)
_LINE_OPTION = re.compile(r":[\w-]+:[ \t]*(?:\[[^\]]*\]|\{[^}]*\}|[^\s:]+)?[ \t]*")
_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\.[ \t]+(?P<name>[\w:-]+?)::[ \t]*(?P<language>\w*)[ \t]*$")
_OPTION = re.compile(r"[ \t]*:[\w-]+:")
_PROMPT = re.compile(r"(?P<indent>[ \t]*)(?P<mark>>>>|\.\.\.)(?:[ ](?P<code>.*)|[ \t]*$)")


_USES_TORCH = re.compile(r"(?<![\w.])torch\.\w")
_IMPORTS_TORCH = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+torch\b|\btorch[ \t]*=(?!=)|\bimport\b.*\bas torch\b", re.MULTILINE
)


@dataclass(slots=True)
class _Page:
    """The lines of the module under construction, with their origins and cells."""

    lines: list[str] = field(default_factory=list[str])
    origins: list[Origin] = field(default_factory=list[Origin])
    cells: list[Cell] = field(default_factory=list[Cell])

    def blank(self, row: int) -> None:
        self.lines.append("")
        self.origins.append(Origin(row))

    def cell(self, lines: list[tuple[str, Origin]]) -> None:
        """Add a run of code; magics within it are masked."""
        if not lines:
            return
        self.cells.append(Cell(len(self.lines) + 1, len(lines)))
        self.lines += masked_cell("\n".join(text for text, _ in lines)).split("\n")
        self.origins += [origin for _, origin in lines]


def page_source(path: str, text: str) -> Source:
    """The source of a documentation page: every line outside Python code is blank.

    Code that lost its line breaks is spread over lines of its own, so that code lines behind it are not file lines.
    """
    rows = normalised(text).split("\n")
    page = _Page()
    if any(mark in text for mark in ("```", "~~~", ">>>", "::")):
        _read(rows, page)
    else:
        page.lines = [""] * len(rows)
    _import_torch(page.lines)
    # NUL bytes are no Python, and `ast` refuses the whole module for one.
    code = "\n".join(page.lines).replace("\0", " ")
    return Source(path, SourceKind.PAGE, text, code, (), tuple(page.origins) or None, tuple(page.cells))


def _import_torch(lines: list[str]) -> None:
    """Let a page that shows parts of programs with torch, and imports it nowhere, do so in its first line."""
    code = "\n".join(lines)
    if lines and not lines[0] and _USES_TORCH.search(code) and not _IMPORTS_TORCH.search(code):
        lines[0] = "import torch"


def _read(rows: list[str], page: _Page) -> None:
    """Walk over the rows of a page; each step handles one construct and says where the next begins."""
    at = 0
    containers: list[tuple[str, int]] = []
    while at < len(rows):
        row = rows[at]
        fence = _FENCE.match(row) if "```" in row or "~~~" in row else None
        if fence is not None:
            at = _fence(rows, at, fence, containers, page)
        elif row.count("```") > 1:
            _one_line_fences(row, at + 1, page)
            at += 1
        elif row.count(">>>") > 1 and row.lstrip().startswith(">>>"):
            _one_line_session(row, at + 1, page)
            at += 1
        elif ">>>" in row and _is_primary(row):
            at = _session(rows, at, page)
        elif (directive := _DIRECTIVE.match(row) if ".." in row else None) is not None:
            at = _directive(rows, at, directive, page)
        else:
            page.blank(at + 1)
            at += 1


def _is_python(info: str) -> bool:
    """Whether the information behind a fence's marks, as `{code-cell} ipython3` or `python`, means Python."""
    directive = re.match(r"\{([\w-]+)\}\s*(\S*)", info)
    if directive:
        name, language = directive.group(1).lower(), directive.group(2).lower()
        if name in _CODE_DIRECTIVES:
            return not language or language in _PYTHON
        return name in _LANGUAGE_DIRECTIVES and language in _PYTHON
    first = re.match(r"(?:\{\s*\.)?([\w-]+)", info)
    return first is not None and first.group(1).lower() in _PYTHON


def _is_container(info: str) -> bool:
    """Whether a fence is a directive that holds text of the page, as `{note}`."""
    directive = re.match(r"\{([\w:-][\w:.-]*)\}", info)
    if directive is None:
        return False
    return directive.group(1).lower() not in _LANGUAGE_DIRECTIVES | _CODE_DIRECTIVES | _OPAQUE_DIRECTIVES


def _fence(rows: list[str], at: int, fence: re.Match[str], containers: list[tuple[str, int]], page: _Page) -> int:
    """Handle a line that opens or closes a fence; returns the index of the row to go on with."""
    marks, info = fence["marks"], fence["info"].strip()
    page.blank(at + 1)
    if not info and containers and containers[-1][0] == marks[0] and len(marks) >= containers[-1][1]:
        containers.pop()
        return at + 1
    if _is_container(info):
        containers.append((marks[0], len(marks)))
        return at + 1
    end = _closing(rows, at + 1, marks)
    if _is_python(info):
        _code(rows, at + 1, end, len(fence["prefix"]), page, options=info.startswith("{"))
    else:
        for index in range(at + 1, end):
            page.blank(index + 1)
    if end < len(rows):
        page.blank(end + 1)
    return end + 1


def _closing(rows: list[str], at: int, marks: str) -> int:
    """The index of the row that closes a fence, or the number of rows."""
    pattern = re.compile(rf"[ \t>]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
    return next((index for index in range(at, len(rows)) if pattern.match(rows[index])), len(rows))


def _code(rows: list[str], start: int, end: int, width: int, page: _Page, *, options: bool) -> None:
    """Add the rows [start, end) of a fence, dedented by at most `width` columns, options and prompts stripped."""
    if options:
        start = _skip_options(rows, start, end, page)
    if any(_is_primary(row) for row in rows[start:end]):
        page.cell([_prompt_line(rows[index], index + 1) for index in range(start, end)])
        return
    lines: list[tuple[str, Origin]] = []
    for index in range(start, end):
        row = rows[index]
        cut = 0
        while cut < min(width, len(row)) and row[cut] in " \t>":
            cut += 1
        lines.append((row[cut:], Origin(index + 1, None, 0, cut)))
    page.cell(lines)


def _skip_options(rows: list[str], start: int, end: int, page: _Page) -> int:
    """Blank the options of a directive: `:name: value` rows, or YAML between two rows of dashes."""
    at = start
    if at < end and rows[at].strip() == "---":
        closing = next((index for index in range(at + 1, end) if rows[index].strip() == "---"), None)
        at = at if closing is None else closing + 1
    while at < end and _OPTION.match(rows[at]):
        at += 1
    for index in range(start, at):
        page.blank(index + 1)
    return at


def _directive(rows: list[str], at: int, directive: re.Match[str], page: _Page) -> int:
    """Handle a reStructuredText directive: the rows below it that are indented deeper are its content."""
    page.blank(at + 1)
    if not _is_python(f"{{{directive['name']}}} {directive['language']}"):
        return at + 1
    margin = len(directive["indent"])
    end = at + 1
    while end < len(rows) and (not rows[end].strip() or _width(rows[end]) > margin):
        end += 1
    start = _skip_options(rows, at + 1, end, page)
    width = min((_width(row) for row in rows[start:end] if row.strip()), default=0)
    _code(rows, start, end, width, page, options=False)
    return end


def _width(row: str) -> int:
    return len(row) - len(row.lstrip(" \t"))


def _is_primary(row: str) -> bool:
    found = _PROMPT.match(row)
    return found is not None and found["mark"] == ">>>"


def _session(rows: list[str], at: int, page: _Page) -> int:
    """Handle a prompt session outside fences: it lasts to the next empty row."""
    end = at
    while end < len(rows) and rows[end].strip() and not _FENCE.match(rows[end]):
        end += 1
    page.cell([_prompt_line(rows[index], index + 1) for index in range(at, end)])
    return end


def _prompt_line(row: str, number: int) -> tuple[str, Origin]:
    """The code of a row of a session, blank for output."""
    found = _PROMPT.match(row)
    if found is None or found["code"] is None:
        return "", Origin(number)
    return found["code"], Origin(number, None, 0, found.start("code"))


def _one_line_fences(row: str, number: int, page: _Page) -> None:
    """Handle a row on which fences open and close: their code lost its line breaks."""
    before = len(page.lines)
    for fence in _LINE_FENCE.finditer(row):
        if not _is_python(fence["info"]):
            continue
        start, end = fence.span("body")
        while fence["info"].startswith("{") and (option := _LINE_OPTION.match(row, start, end)) is not None:
            start = option.end()
        _restore(row, start, end, number, page)
    if len(page.lines) == before:
        page.blank(number)


def _one_line_session(row: str, number: int, page: _Page) -> None:
    """Handle a row that holds a whole prompt session."""
    before = len(page.lines)
    _restore(row, 0, len(row), number, page)
    if len(page.lines) == before:
        page.blank(number)


def _restore(row: str, start: int, end: int, number: int, page: _Page) -> None:
    """Add the restored lines of a part of a row; what cannot be restored is left out."""
    text = row[start:end]
    lines = restored(text)
    if lines is None:
        return
    page.cell(
        [
            (" " * line.indent + text[line.start : line.end], Origin(number, None, line.indent, start + line.start))
            for line in lines
        ]
    )
