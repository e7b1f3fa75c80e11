"""Elements that fixes take out of the lists of a call or a function: comments of the others stay."""

from __future__ import annotations

import ast

import pytest

from nonstrict.findings import LocatedEdit
from nonstrict.fixes.applying import with_edits
from nonstrict.fixes.code.documents import Document
from nonstrict.fixes.code.lists import arguments_of, parameters_of, without_element
from nonstrict.text.source import parsed, source_from_bytes


def without(text: str, name: str) -> str:
    """A file without the parameter, or the argument, of a name."""
    source, tree = parsed(source_from_bytes("model.py", text.encode()))
    document = Document(source, tree)
    (statement,) = tree.body
    if isinstance(statement, ast.FunctionDef):
        known = parameters_of(document, statement)
    else:
        assert isinstance(statement, ast.Expr)
        assert isinstance(statement.value, ast.Call)
        known = arguments_of(document, statement.value)
    start = next(one.start for one in known.elements if document.code[one.start : one.end] == name)
    edit = without_element(document, known, start)
    assert edit is not None
    left = with_edits("model.py", text, [LocatedEdit(source.locate(edit.span), edit.text)])
    compile(left, "model.py", "exec")
    return left


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        pytest.param("f(a, b, c)\n", "a", "f(b, c)\n", id="the first"),
        pytest.param("f(a, b, c)\n", "b", "f(a, c)\n", id="one between others"),
        pytest.param("f(a, b, c)\n", "c", "f(a, b)\n", id="the last"),
        pytest.param("f(a, b, c,)\n", "c", "f(a, b,)\n", id="the last, with a comma behind it"),
        pytest.param("f(a)\n", "a", "f()\n", id="the only one"),
        pytest.param("f(\n    a,\n    b,\n)\n", "b", "f(\n    a,\n)\n", id="a line of its own"),
        pytest.param("f(\n    a,\n    b\n)\n", "b", "f(\n    a,\n)\n", id="a line of its own without a comma"),
        pytest.param(
            "def f(\n    cls,  # the class\n    x,  # the input\n):\n    pass\n",
            "cls",
            "def f(\n    x,  # the input\n):\n    pass\n",
            id="its comment goes with it",
        ),
        pytest.param(
            "def f(\n    x,  # the input\n    k,  # the scale\n):\n    pass\n",
            "k",
            "def f(\n    x,  # the input\n):\n    pass\n",
            id="the comment of the one before stays",
        ),
        pytest.param("f(a,  # first\n  b)\n", "a", "f(  # first\n  b)\n", id="others share its line"),
        pytest.param("f(a,  # first\n  b)\n", "b", "f(a  # first\n)\n", id="a comment before it stays"),
        pytest.param("f(a  # first\n  , b)\n", "b", "f(a  # first\n  )\n", id="a comment before its comma stays"),
        pytest.param("f(a, b  # all\n)\n", "b", "f(a  # all\n)\n", id="a comment behind it stays"),
        pytest.param("f(a  # all\n)\n", "a", "f(  # all\n)\n", id="a comment behind the only one stays"),
    ],
)
def test_elements_are_taken_out(before: str, name: str, after: str) -> None:
    assert without(before, name) == after
