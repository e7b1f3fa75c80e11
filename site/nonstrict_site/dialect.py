"""Markdown as GitHub reads it, written so that Python-Markdown reads the same.

- What belongs to an item of a list is indented by four columns; on GitHub, by as many as the text of the item.
- A fence of code has one word behind it; ours have more, which say to the tests what to do with the code.
"""

from __future__ import annotations

import re

_MARKER = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ ]+(?=\S)")
_FENCE = re.compile(r"(?P<ticks>`{3,}|~{3,})(?P<language>[^\s`]*)(?P<more>[^`\n]*)$")
_SHORT_CODE = re.compile(r"<code>(?=[^<]{1,28}</code>)")
#: The indentation of Python-Markdown, also that of code.
_STEP = 4


def for_python_markdown(markdown: str) -> str:
    """The same Markdown in the dialect of Python-Markdown."""
    written: list[str] = []
    contents: list[int] = []  # the columns where the texts of the items begin that are open
    fence = ""
    for line in markdown.split("\n"):
        text = line.lstrip(" ")
        if not text:
            written.append("")
            continue
        indent = len(line) - len(text)
        while contents and indent < contents[-1] and not fence:
            contents.pop()
        behind = max(0, indent - (contents[-1] if contents else 0))
        opened = _FENCE.match(text)
        marker = None
        if fence:
            fence = "" if text.rstrip() == fence else fence
        elif opened is not None and behind < _STEP:
            fence, text = opened["ticks"], opened["ticks"] + opened["language"]
        elif behind < _STEP:
            marker = _MARKER.match(text)
        written.append(" " * (_STEP * len(contents) + behind) + text)
        if marker is not None:
            contents.append(indent + marker.end())
    return "\n".join(written)


def with_wrapped_texts(markdown: str) -> str:
    """The Markdown, with lines of plain text wrapped: messages of torch are long, and nothing in them is in columns."""
    return re.sub(r"^```text$", "``` { .text .wrap }", markdown, flags=re.MULTILINE)


def with_short_code(html: str) -> str:
    """The HTML of a page in which short code is of a class: names and options are not to be broken at their hyphens."""
    return _SHORT_CODE.sub('<code class="short">', html)
