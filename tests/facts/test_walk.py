"""`walk` visits what `ast.walk` does, but for contexts and operators."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from nonstrict.facts.walk import children, walk

_LEFT_OUT = (ast.expr_context, ast.operator, ast.boolop, ast.cmpop, ast.unaryop)
_SOURCES = (
    Path(ast.__file__),
    Path(__file__),
)
_MATCH = """
match point:
    case Point(x=0, y=[first, *rest]) | {"k": value, **others} if first is not None:
        pass
    case None:
        f = lambda *a, b: {**a, "c": b}
"""


@pytest.mark.parametrize("code", [*(path.read_text("utf-8") for path in _SOURCES), _MATCH])
def test_the_same_nodes(code: str):
    tree = ast.parse(code)
    expected = {id(node) for node in ast.walk(tree) if not isinstance(node, _LEFT_OUT)}
    found = list(walk(tree))
    assert {id(node) for node in found} == expected
    assert len(found) == len(expected)


def test_children_are_in_the_order_of_the_text():
    call = ast.parse("f(a, *b, c=d)", mode="eval").body
    assert [ast.unparse(child) for child in children(call)] == ["f", "a", "*b", "c=d"]
