"""Example code in docstrings, as source text. Running it is for the caller, in a sandbox."""

from __future__ import annotations

import ast
import doctest
import inspect
import re
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCK = re.compile(
    r"(?mi)^(?P<indent>[ \t]*)(?:(?:examples?|usage)\s*:{1,2}|\.\. code(?:-block)?::.*|```(?:py|python).*)[ \t]*$"
)


def examples(function: Callable[..., object]) -> list[str]:
    """Blocks of statements in the docstring of `function` that call it by name, each valid Python, doctests first.

    A block of doctest lines is one program without prompts and expected output. Text that does not parse is left out.
    """
    text = inspect.getdoc(function) or ""
    name = getattr(function, "__name__", "")
    found = dict.fromkeys([*_doctests(text), *_blocks(text)])
    return [source for source in found if not name or re.search(rf"\b{re.escape(name)}\b", source)]


def _doctests(text: str) -> Iterator[str]:
    try:
        parsed = doctest.DocTestParser().get_examples(text)
    except ValueError:
        return
    source = "".join(each.source for each in parsed)
    if source and _parses(source):
        yield source


def _blocks(text: str) -> Iterator[str]:
    """Code under `Example::` and the like: the lines indented deeper, or up to the closing fence."""
    lines = text.splitlines()
    for found in _BLOCK.finditer(text):
        start = text.count("\n", 0, found.start()) + 1
        fenced, indent = "```" in found.group(), len(found["indent"])
        kept: list[str] = []
        for line in lines[start:]:
            if line.strip().startswith("```") if fenced else line.strip() and len(line) - len(line.lstrip()) <= indent:
                break
            kept.append(line)
        source = textwrap.dedent("\n".join(kept)).strip("\n") + "\n"
        if source.strip() and ">>>" not in source and _parses(source):
            yield source


def _parses(source: str) -> bool:
    try:
        return bool(ast.parse(source).body)
    except (SyntaxError, ValueError):
        return False
