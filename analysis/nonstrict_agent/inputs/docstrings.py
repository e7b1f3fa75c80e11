"""What docstrings and comments say of a function: example code, as source text, and the shapes of its arguments.

Running examples is for the caller, in a sandbox.
"""

from __future__ import annotations

import ast
import doctest
import inspect
import linecache
import re
import textwrap
from typing import TYPE_CHECKING

from nonstrict_agent.inputs.source import tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_BLOCK = re.compile(
    r"(?mi)^(?P<indent>[ \t]*)(?:(?:examples?|usage)\s*:{1,2}|\.\. code(?:-block)?::.*|```(?:py|python).*)[ \t]*$"
)
#: Where the text about a parameter begins: `x (Tensor): ...`, `x: ...`, `:param x: ...`, `x : Tensor`.
_PARAMETER = re.compile(
    r"^\s*(?::param\s+(?:[\w.\[\]]+\s+)?)?\**(?P<name>[A-Za-z_]\w*)\s*(?:\([^:]*\)\s*)?:(?!:)(?P<text>.*)$"
)
#: Sizes in brackets, separated by commas: `(batch, heads, 64)`, `[B, N]`, `(N,)`.
_SIZES = re.compile(r"[\[(]\s*((?:(?:\.\.\.|[\w*+/ -]+),\s*)+(?:\.\.\.|[\w*+/ -]+)?)\s*[\])]")
_COMMENT = re.compile(r"#\s*(?P<text>[^#]*)$")


def shapes(function: Callable[..., object]) -> dict[str, str]:
    """The sizes that a docstring, or a comment behind a parameter, states of an argument: `"batch heads 64"`."""
    tree = tree_of(function)
    if tree is None or isinstance(tree, ast.Lambda):
        return {}
    parameters = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    comments = _comments(inspect.getsourcefile(function) or "", parameters)
    found: dict[str, str] = {}
    for name, text in (*comments, *_described(inspect.getdoc(function) or "")):
        sizes = _SIZES.search(text)
        if sizes is not None and any(one.arg == name for one in parameters):
            found.setdefault(name, " ".join(map(_word, filter(str.strip, sizes[1].split(",")))))
    return found


def _word(size: str) -> str:
    """A size without blanks: `height * width` is a product, `batch size` a name."""
    return "_".join(re.sub(r"\s*([*+/-])\s*", r"\1", size).split())


def _described(text: str) -> Iterator[tuple[str, str]]:
    """What a docstring says of each parameter, up to the next one or an empty line."""
    name, said = "", ""
    for line in (*text.splitlines(), ""):
        begins = _PARAMETER.match(line)
        if begins is None and line.strip():
            said += f" {line.strip()}"
            continue
        if name:
            yield name, said
        name, said = (begins["name"], begins["text"]) if begins is not None else ("", "")


def _comments(path: str, parameters: list[ast.arg]) -> Iterator[tuple[str, str]]:
    """The comments on the lines of parameters."""
    for one in parameters:
        comment = _COMMENT.search(linecache.getline(path, one.lineno).rstrip("\n"))
        if comment is not None:
            yield one.arg, comment["text"]


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
