"""The parts of a condition that are evaluated once, however much is asked of it."""

from __future__ import annotations

import ast

import pytest

from nonstrict.program.state.asked import about


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("a.b and not f(x.y)", {"a.b", "f(x.y)", "x.y"}),
        ("f(x) > y[0]", {"f(x) > y[0]", "f(x)", "y[0]"}),
        # What is inside is evaluated once for each element, in a function of its own, or on one of two ways.
        ("[f(x) for x in xs]", {"[f(x) for x in xs]"}),
        ("lambda: f(x)", {"lambda: f(x)"}),
        ("f(x) if y else g(x)", {"f(x) if y else g(x)"}),
        # A part that binds a variable changes what the others read.
        ("(n := f(x)) and n.y", set()),
    ],
)
def test_what_is_evaluated_once(condition: str, parts: set[str]):
    assert {ast.unparse(part) for part in about(ast.parse(condition, mode="eval").body)} == parts
