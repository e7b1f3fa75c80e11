"""Top-level statements of texts that change: read anew only where they changed, and what an experiment rests on."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nonstrict.check.live.pieces import Ground, Pieces, change_between, pieces_of

LINES = [
    "import os",
    "# a comment",
    "# nonstrict: inputs(1)",
    "",
    "@deco",
    "def f(x):",
    "    return x",
    "a = 1; b = 2",
    'x = """',
    "inside",
    '"""',
    "class A:",
    "    # within",
    "    y = 1",
    "if a:",
    "    b",
    "else:",
    "    c",
    "z = (1,",
    "  2)",
    "s = 1; t = [",
    "3]",
    "u = 1 + \\",
    "é = 'ä'",
]
EDITS = st.tuples(st.integers(0, 60), st.integers(0, 4), st.lists(st.sampled_from(LINES), max_size=4))


def seen(pieces: Pieces | None) -> list[tuple[int, int, str, str]] | None:
    if pieces is None:
        return None
    return [(one.first, one.last, one.text, ast.dump(one.statement.node)) for one in pieces.pieces]


@given(st.lists(st.sampled_from(LINES), max_size=30), st.lists(EDITS, max_size=12))
def test_edit_by_edit_it_is_what_the_text_as_a_whole_is(lines: list[str], edits: list[tuple[int, int, list[str]]]):
    known = pieces_of("\n".join(lines))
    for at, gone, come in edits:
        lines = [*lines[:at], *come, *lines[at + gone :]]
        code = "\n".join(lines)
        edited = pieces_of(code, known)
        assert seen(edited) == seen(pieces_of(code))
        known = edited or known


def pieces(text: str) -> Pieces:
    found = pieces_of(text)
    assert found is not None
    return found


def test_lines_belong_to_the_statement_that_holds_them_or_follows():
    text = pieces("import os\n\n# about f\n@deco\ndef f():\n    return 1\n\nx = 1\n# end\n")
    assert [text.at(line) for line in range(1, 10)] == [0, 1, 1, 1, 1, 1, 2, 2, None]
    assert [one.first for one in text.pieces] == [1, 4, 8]


BASE = """\
import torch
from math import pi

RATE = 2.0
TABLE = {}


def helper(x):
    return x * RATE


def marked(x):
    return helper(x) + TABLE["a"]


def main():
    marked(torch.ones(2))


def other():
    return pi
"""


def ground(text: Pieces) -> Ground:
    """What an experiment rests on that keeps `main`, `marked` and an import."""
    return Ground(text, [index for index, one in enumerate(text.texts) if "marked" in one or "torch" in one])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return pi", "return pi + 1"),
        ("from math import pi\n", "from math import pi\nimport json\n"),
        ("\ndef other", "\nUNRELATED = 1\n\n\ndef other"),
        ("\ndef other():\n    return pi\n", ""),
        ("RATE = 2.0", "\n\n# set here\nRATE = 2.0"),
        ("\ndef other", "\ndef second():\n    return other()\n\n\ndef other"),
    ],
)
def test_edits_elsewhere(old: str, new: str):
    before, after = pieces(BASE), pieces(BASE.replace(old, new))
    assert before.texts != after.texts or "set here" in new
    assert ground(before).is_in(after, change_between(before, after))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("helper(x) + ", "helper(x) - "),
        ("x * RATE", "x + RATE"),
        ("RATE = 2.0", "RATE = 3.0"),
        ("TABLE = {}", "TABLE = {}\nTABLE['a'] = 1"),
        ("TABLE = {}", "TABLE = {}\nTABLE.update(a=1)"),
        ("\ndef other", "\nmarked = torch.compile(marked)\n\n\ndef other"),
        ("\ndef other", "\ntorch.manual_seed(1)\n\n\ndef other"),
        ("from math import pi\n", "from math import *\n"),
        ("from math import pi\n", "from math import pi\nfrom rates import RATE\n"),
        ("import torch\n", "import torch\nimport numpy as torch\n"),
        ("def main():\n    marked(torch.ones(2))\n", ""),
        ("def marked", "# nonstrict: inputs(1)\ndef marked"),
        ("RATE = 2.0\nTABLE = {}", "TABLE = {}\nRATE = 2.0"),
    ],
)
def test_edits_that_an_experiment_would_notice(old: str, new: str):
    before, after = pieces(BASE), pieces(BASE.replace(old, new))
    assert BASE.replace(old, new) != BASE
    assert not ground(before).is_in(after, change_between(before, after))


def test_a_new_caller_uses_what_is_defined():
    before = pieces(BASE)
    for new, alike in (("def more():\n    marked(1)\n", False), ("def more():\n    other()\n", True)):
        after = pieces(BASE + new)
        change = change_between(before, after)
        assert ground(before).is_in(after, change)
        assert ground(before).is_used_alike(change) is alike
