"""Documentation pages: fences, directives, prompts, and code that lost its line breaks."""

from __future__ import annotations

import ast

import pytest

from nonstrict.findings import Span
from nonstrict.text.collapsed import restored
from nonstrict.text.source import Source, repaired, source_from_bytes


def page(text: str, path: str = "a.md") -> Source:
    return source_from_bytes(path, text.encode())


def rows(source: Source) -> dict[int, str]:
    """The rows of the file that hold code, with their code as the file has it."""
    return {
        source.locate(Span("a.md", number, 0, number, 0)).row: text
        for number, text in enumerate(source.code.split("\n"), 1)
        if text.strip()
    }


@pytest.mark.parametrize(
    "info",
    [
        "python",
        "py",
        "Python",
        "python3",
        "{code-cell}",
        "{code-cell} ipython3",
        "{code-cell} python",
        "{code-block} python",
        "python title='x'",
        "{.python}",
        "{python}",
        "{testcode}",
        " python",
        "pycon",
    ],
)
def test_python_fences_are_read(info: str) -> None:
    source = page(f"Text\n```{info}\nx = 1\n```\nmore x\n")
    assert source.code.split("\n") == ["", "", "x = 1", "", "", ""]


@pytest.mark.parametrize(
    "info", ["", "bash", "{code-cell} bash", "{code-block} cpp", "text", "{code-block}", "pythonic"]
)
def test_other_fences_are_not(info: str) -> None:
    assert rows(page(f"```{info}\nx = 1\n```\n\n```python\ny = 1\n```\n")) == {6: "y = 1"}


def test_options_are_masked() -> None:
    text = "```{code-cell}\n:tags: [a]\n:other: b\nx = 1\n```\n```{code-cell}\n---\ntags: [a]\n---\ny = 1\n```\n"
    assert rows(page(text)) == {4: "x = 1", 10: "y = 1"}


def test_indented_fences_are_dedented_and_columns_lead_back() -> None:
    source = page("- item\n\n  ```python\n  if x:\n      yé = 1\n  ```\n> ~~~py\n> z = 1\n> ~~~\n")
    assert repaired(source) is source
    place = source.locate(Span("a.md", 5, 4, 5, 7))
    assert (place.row, place.column, place.end_column) == (5, 7, 9)
    assert source.line_text(5)[place.column - 1 : place.end_column - 1] == "yé"
    assert rows(source)[8] == "z = 1"


def test_fences_within_directives_are_read_and_shown_markdown_is_not() -> None:
    nested = "````{note}\nText\n```python\nx = 1\n```\n````\n```python\ny = 1\n```\n"
    assert rows(page(nested)) == {4: "x = 1", 8: "y = 1"}
    assert rows(page("````markdown\n```python\nx = 1\n```\n````\n```python\ny = 1\n```\n")) == {7: "y = 1"}
    assert rows(page("```python\nx = '''\n~~~\n'''\n```")) == {2: "x = '''", 3: "~~~", 4: "'''"}


def test_an_open_fence_lasts_to_the_end() -> None:
    assert rows(page("```python\nx = 1\ny = 2")) == {2: "x = 1", 3: "y = 2"}


def test_prompts_are_stripped_within_and_without_fences() -> None:
    text = (
        "```pycon\n>>> def f(x):\n...     return x\n...\n>>> f(1)\n"
        "1\n```\n\nText\n  >>> y = f(2)\n  >>> y\n  2\n\nEnd\n"
    )
    source = page(text)
    assert repaired(source) is source
    assert rows(source) == {2: "def f(x):", 3: "    return x", 5: "f(1)", 10: "y = f(2)", 11: "y"}
    place = source.locate(Span("a.md", 10, 4, 10, 5))
    assert source.line_text(10)[place.column - 1 : place.end_column - 1] == "f"


def test_restructuredtext_directives_are_read() -> None:
    text = (
        "Text::\n\n    no = 1\n\n.. code-block:: python\n   :linenos:\n\n   x = 1\n"
        "   if x:\n       y = 1\n\nEnd\n\n.. code:: bash\n\n   ls\n"
    )
    source = page(text, "a.rst")
    assert repaired(source) is source
    assert rows(source) == {8: "x = 1", 9: "if x:", 10: "    y = 1"}


def test_magics_in_cells_are_masked() -> None:
    source = page("```{code-cell}\n%matplotlib inline\nx = 1\n```\n")
    assert repaired(source) is source


def test_pages_without_code_are_blank_lines() -> None:
    source = page("a\r\nb\nc: d")
    assert source.code == "\n\n"
    assert source.locate(Span("a.md", 2, 0, 2, 1)).row == 2


def restore(text: str) -> str | None:
    lines = restored(text)
    if lines is None:
        return None
    return "\n".join(" " * line.indent + text[line.start : line.end] for line in lines)


@pytest.mark.parametrize(
    "code",
    [
        "import torch\nimport os",
        "from a import b\nfrom c import d as e\nx = 1",
        "def f(x):\n    y = x if x else 1\n    return y\nx = f(1)\nprint(x)",
        "@torch.compile(fullgraph=True)\ndef f(x):\n    return x\n@a\n@b.c\ndef g(x):\n    return x\ng(f(1))",
        "try:\n    f(x)\nexcept Exception as e:\n    print(e)\n@torch.compile\ndef g(x):\n    return x",
        (
            "class A(B):\n    def __init__(self):\n        super().__init__()\n        self.x = 1\n"
            "    def f(self):\n        return self.x\na = A()"
        ),
        "def outer(x):\n    k = 1\n    def inner(y):\n        return y + k\n    return inner\nf = outer(1)",
        "def f(x):\n    if x > 1:\n        return x\n    return -x\nf(1)",
        (
            "def f(x):\n    if x.shape[0] > 2:\n        return x ** 2 / 6\n"
            "    else:\n        return x * 3\nx = torch.randn(3)\nf(x)"
        ),
        "def f(x):\n    for i in range(3):\n        x = x + i\n    return x",
        "def show(y):\n    print(y)\n_ = show(1)",
        "with torch.no_grad():\n    y = f(x)",
        "x = [i for i in y if i not in z]\nassert x, 'no'\ndel x",
        "f = lambda x: x + 1\ng = {'a': 1}\nh = g['a']",
        "x = 'a' 'b'\ny = \"it's # no comment\"",
        "f(x) # works",
        "f(x) # a call to g(y)\nz = 1",
        "x = 1 # Load the thing\ny = load(x) # it's done. ok\nprint(y)",
    ],
)
def test_collapsed_code_is_restored(code: str) -> None:
    assert restore(" ".join(line.strip() for line in code.split("\n"))) == code


@pytest.mark.parametrize(
    "text", ["", "this is no code", "x = = 1 y", "return 1", "def f(x):", "else: x = 1", "f( x = 1", "'''"]
)
def test_what_cannot_be_restored_is_given_up(text: str) -> None:
    assert restored(text) is None


def test_a_page_on_one_line_is_read() -> None:
    text = (
        "```{code-cell} :tags: [x] import torch ``` # Title `a` ``b`` text ```bash ls ``` and ```{code-cell} "
        "@torch._dynamo.nonstrict_trace def f(x): # Some comment. return x + é print(f(1)) # End. ```"
    )
    source = page(text)
    assert repaired(source) is source
    names = [node.name for node in ast.walk(ast.parse(source.code)) if isinstance(node, ast.FunctionDef)]
    assert names == ["f"]
    for number, line in enumerate(source.code.split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        place = source.locate(Span("a.md", number, indent, number, len(line.encode())))
        assert place.row == 1
        assert text[place.column - 1 : place.end_column - 1] == line.strip()


def test_a_session_on_one_line_is_read() -> None:
    source = page(
        "Example:\n>>> import torch >>> @mark ... def f(x): ... # It's OK ... g() ... return x ... >>> f(1) # end\n"
    )
    assert repaired(source) is source
    assert source.code.split("\n")[1:-1] == [
        "import torch",
        "@mark",
        "def f(x):",
        "    g()",
        "    return x",
        "f(1) # end",
    ]


def test_a_page_that_imports_torch_nowhere_does_so_in_its_first_line() -> None:
    shown = "# Steps\n\n```python\n@torch.compile\ndef f(x):\n    return x\n```\n"
    assert page(shown).code.split("\n")[:4] == ["import torch", "", "", "@torch.compile"]


@pytest.mark.parametrize(
    "before", ["import torch", "from torch import nn", "import numpy, torch as t\ntorch = t", "torch = load()"]
)
def test_a_page_that_says_what_torch_is_does_not(before: str) -> None:
    source = page(f"# Steps\n\n```python\n{before}\n```\n\n```python\ntorch.ones(3)\n```\n")
    assert source.code.split("\n")[0] == ""


def test_adversarial_pages_take_no_long_time() -> None:
    for piece in ("# f(x) a ", "def f(x): ", "if x: y = 1 ", "( ", "@a ", "x = 1 # y. z = "):
        page("```{code-cell} " + piece * 2000 + "```")
