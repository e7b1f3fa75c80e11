"""Markdown as GitHub reads it, written so that Python-Markdown reads the same.

- What belongs to an item of a list is indented by four columns; on GitHub, by as many as the text of the item.
- A list that follows a line of text has an empty line before it, and so has an item that follows one of several parts.
- A fence of code has one word behind it; ours have more, which say to the tests what to do with the code.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ ]+(?=\S)")
_FENCE = re.compile(r"(?P<ticks>`{3,}|~{3,})(?P<language>[^\s`]*)(?P<more>[^`\n]*)$")
_SHORT_CODE = re.compile(r"<code>(?=[^<]{1,28}</code>)")
#: The indentation of Python-Markdown, also that of code.
_STEP = 4


class _Item(NamedTuple):
    """An item of a list that is open: the columns of its marker and of its text, and the line where it begins."""

    marker: int
    text: int
    line: int


def for_python_markdown(markdown: str) -> str:
    """The same Markdown in the dialect of Python-Markdown."""
    written: list[str] = []
    opened: list[_Item] = []
    fence = ""
    in_text = False  # whether a list would follow a line of text, none of an item's first
    for line in markdown.split("\n"):
        text = line.lstrip(" ")
        if not text:
            written.append("")
            in_text = False
            continue
        indent = len(line) - len(text)
        sibling = None if fence else _close(opened, indent)
        behind = max(0, indent - (opened[-1].text if opened else 0))
        marker = None if fence or behind >= _STEP else _MARKER.match(text)
        if behind < _STEP or fence:
            fence, text = _fenced(fence, text)
        if marker is not None and in_text and (sibling is None or "" in written[sibling.line :]):
            written.append("")
        written.append(" " * (_STEP * len(opened) + behind) + text)
        if marker is not None:
            opened.append(_Item(indent, indent + marker.end(), len(written)))
        in_text = marker is None and not fence
    return "\n".join(written)


def _close(opened: list[_Item], indent: int) -> _Item | None:
    """Ends the items that a line does not belong to; the one of them that begins where the line does."""
    ended: list[_Item] = []
    while opened and indent < opened[-1].text:
        ended.append(opened.pop())
    return next((item for item in ended if item.marker == indent), None)


def _fenced(fence: str, text: str) -> tuple[str, str]:
    """The fence that is open after a line, "" for none, and the line with one word behind its fence."""
    if fence:
        return ("" if text.rstrip() == fence else fence), text
    begun = _FENCE.match(text)
    return ("", text) if begun is None else (begun["ticks"], begun["ticks"] + begun["language"])


def with_wrapped_texts(markdown: str) -> str:
    """The Markdown, with lines of plain text wrapped: messages of torch are long, and nothing in them is in columns."""
    return re.sub(r"^```text$", "``` { .text .wrap }", markdown, flags=re.MULTILINE)


def with_short_code(html: str) -> str:
    """The HTML of a page in which short code is of a class: names and options are not to be broken at their hyphens."""
    return _SHORT_CODE.sub('<code class="short">', html)
