"""Texts to check, and what is found in them, without a process and without a file on the disk."""

from __future__ import annotations

import ast
import copy
import functools
import io
import json
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from nonstrict.check.run import CheckResult
    from nonstrict.findings import Diagnostic, Location

ROOT = Path(__file__).parent
CASES = ROOT.parent / "corpus" / "cases"
#: The torch of the findings is named, so that no environment is searched for it.
SETTINGS = default_settings(str(ROOT))._replace(torch_version="2.13.0")

# fmt: off
PIECES = st.sampled_from(
    [
        "import torch\n", "from torch._dynamo import nonstrict_trace as mark\n", "import numpy as np, random, time\n",
        "W = torch.ones(3)\n", "N = 3\n", "CACHE = {}\n", "M = torch.nn.Dropout()\n", "global N\n", "nonlocal x\n",
        "@torch._dynamo.nonstrict_trace\n", "@mark\n", "@torch.compile(fullgraph=True)\n", "@functools.lru_cache\n",
        "def f(x):\n    ", "def g(x, *a, n=W, **k):\n        ", "async def h(self):\n    ", "make_fx(f)(W)\n",
        "class A(torch.nn.Module):\n    ", "def forward(self, x):\n        ", "f = torch._dynamo.nonstrict_trace(f)\n",
        "nonstrict_trace(lambda x: x + W)(W)\n", "return x + W\n", "yield from x\n", "x.append(W)\n", "x.data_ptr()\n",
        "float(x)\n", "N += 1\n", "CACHE[x] = W\n", "self.k = x\n", "print(f'{x!r:>{N}}')\n", "random.random()\n",
        "await x\n", "raise E from x\n", "del x\n", "import *\n", "for x in x: ", "while (y := x): ", "else:\n        ",
        "if x.sum() > 0:\n        ", "with x as y, W:\n        ", "try:\n        ", "except* E as e:\n        ",
        "finally:\n        ", "match x:\n        ", "case {'a': [*b], **c} | None if W:\n            ",
        "lambda *a: (yield)", "[x for x in W if x async for y in x]", "x[..., ::W] = ", "*x, y = ", "x: W = ",
        "@", "(", ")", "[", "]", "{", "}", "'", '"""', "\n", "    ", "\t", "\r", "\r\n", "\x0c", "\x00", "é", "😀",
        "\u2028", "\ufeff", "\\\n", ":", ";", ",", "=",
        "# nonstrict: ignore[NST101]\n", "# noqa\n", "# nonstrict: file-ignore\n",
        "```python\n", "```\n", ">>> ", "... ", "%time ", "!ls\n", "# coding: latin-1\n",
    ]
)
# fmt: on
TEXTS = st.one_of(st.lists(PIECES, max_size=40).map("".join), st.text(max_size=100))
NAMES = st.sampled_from(["a.py", "a.md", "a.txt", "a.pyi"])


@functools.cache
def corpus() -> tuple[str, ...]:
    """The labelled programs: small and complete, most with findings."""
    return tuple(path.read_text(encoding="utf-8") for path in sorted(CASES.glob("*.py")))


def programs() -> st.SearchStrategy[str]:
    """A labelled program."""
    return st.sampled_from(corpus())


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """A labelled program with a few parts cut out, doubled, moved or replaced."""
    text = draw(programs())
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(text)))
        end = start + draw(st.integers(0, 60))
        part = draw(st.one_of(st.just(""), st.just(text[start:end] * 2), PIECES, programs()))
        text = text[:start] + part[:200] + text[end:]
    return text


@st.composite
def splices(draw: st.DrawFn) -> str:
    """A labelled program in which expressions and statements are those of another one: valid, and strange."""
    tree, donor = ast.parse(draw(programs())), ast.parse(draw(programs()))
    for kind, names in ((ast.expr, ("value", "func", "left", "right", "test", "iter")), (ast.stmt, ())):
        given = [node for node in ast.walk(donor) if isinstance(node, kind)]
        for _ in range(draw(st.integers(0, 4))):
            # A copy: a node that stands below itself would make the tree endless.
            new = copy.deepcopy(draw(st.sampled_from(given)))
            places = [
                (node, name)
                for node in ast.walk(tree)
                for name, value in ast.iter_fields(node)
                if (isinstance(value, ast.expr) and name in names) or (not names and name == "body" and value)
            ]
            node, name = draw(st.sampled_from(places))
            if names:
                setattr(node, name, new)
            elif isinstance(body := getattr(node, name), list):
                body.insert(draw(st.integers(0, len(body))), new)
    return ast.unparse(tree)


class Told(NamedTuple):
    """What findings say of places: two of them are equal if nothing but messages differs."""

    code: str
    severity: str
    place: tuple[int | None, int, int, int, int]
    related: tuple[tuple[int | None, int, int], ...]


def run(name: str, data: str | bytes) -> CheckResult:
    """Check a text as `nonstrict check --stdin-filename NAME -` does."""
    content = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    return check([], SETTINGS, RunOptions(jobs=1, standard_input=(name, content)))


def diagnostics(name: str, text: str) -> tuple[Diagnostic, ...]:
    """The diagnostics of a text that can be read."""
    result = run(name, text)
    assert not result.failures
    return result.diagnostics


def told(name: str, text: str) -> list[Told]:
    """What is found in a text, without the messages."""
    return sorted(as_told(found) for found in diagnostics(name, text))


def as_told(found: Diagnostic) -> Told:
    """A diagnostic without its messages."""
    where = found.location
    place = (where.cell, where.row, where.column, where.end_row, where.end_column)
    related = tuple(sorted(_start(other.location) for other in found.related))
    return Told(found.code, found.severity.label, place, related)


def _start(location: Location) -> tuple[int | None, int, int]:
    return location.cell, location.row, location.column


def statement_rows(text: str) -> list[int]:
    """The rows on which logical lines of a program start: what stands before them is no part of a string."""
    rows: list[int] = []
    fresh = True
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT):
            fresh = fresh or token.type == tokenize.NEWLINE
        elif fresh:
            rows.append(token.start[0])
            fresh = False
    return rows


def top_level_rows(text: str) -> list[int]:
    """The rows on which the statements of a module start, decorators included."""
    rows: list[int] = []
    for statement in ast.parse(text).body:
        decorators = getattr(statement, "decorator_list", [])
        rows.append(min([statement.lineno, *(decorator.lineno for decorator in decorators)]))
    return rows


def notebook(sources: list[str]) -> str:
    """A notebook of code cells."""
    cells = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": source}
        for source in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
