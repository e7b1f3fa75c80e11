"""Pages and notebooks that define a name more than once: the states that their reader has run."""

from __future__ import annotations

import json

from nonstrict.text.epochs import epochs
from nonstrict.text.source import Source, source_from_bytes

PAGE = """# Two versions

```python
import torch


@torch.compile
def f(x):
    return g(x)


def g(x):
    return x
```

```python
def helper(x):
    return x


@torch.no_grad()
def g(
    x,
):
    return -x
```
"""


def page(text: str) -> Source:
    return source_from_bytes("page.md", text.encode())


def rows(source: Source, text: str) -> list[int]:
    return [row for row, line in enumerate(source.lines, 1) if line == text]


def test_a_page_that_defines_nothing_twice_has_one_state() -> None:
    assert epochs(page(PAGE.replace("def g(\n", "def h(\n"))) == []


def test_a_file_in_one_piece_has_one_state() -> None:
    assert epochs(source_from_bytes("a.py", b"def f(): pass\ndef f(): pass\n")) == []


def test_the_first_state_ends_before_the_cell_that_replaces() -> None:
    first, _ = epochs(page(PAGE))
    assert rows(first, "def g(x):") == [12]
    assert rows(first, "def helper(x):") == []


def test_the_last_state_lacks_what_was_replaced() -> None:
    _, last = epochs(page(PAGE))
    assert rows(last, "def g(x):") == []
    assert rows(last, "def g(") == rows(page(PAGE), "def g(")
    assert rows(last, "def f(x):") == [8]
    assert rows(last, "    return x") == [18]


def test_states_keep_the_lines_of_the_page() -> None:
    source = page(PAGE)
    for state in epochs(source):
        assert len(state.lines) == len(source.lines)
        assert all(line in ("", whole) for line, whole in zip(state.lines, source.lines, strict=True))


def test_a_decorated_definition_goes_with_its_decorators() -> None:
    text = PAGE.replace("def g(x):", "@torch.no_grad()\ndef g(x):")
    _, last = epochs(page(text))
    assert rows(last, "@torch.no_grad()") == [22]


def test_notebooks_too() -> None:
    cells = [
        "def f():\n    return 1\n",
        "def g():\n    return f()\n",
        "def f():\n    return 2\n",
        "class f:\n    pass\n",
    ]
    notebook = {"cells": [{"cell_type": "code", "source": cell} for cell in cells], "nbformat": 4}
    states = epochs(source_from_bytes("a.ipynb", json.dumps(notebook).encode()))
    assert [sum("return" in line for line in state.lines) for state in states] == [2, 2, 1]
