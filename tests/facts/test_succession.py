"""What runs between two calls of one text."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts import succession


def _call(tree: ast.AST, number: int) -> ast.Call:
    calls = [one for one in ast.walk(tree) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "f"]
    return sorted(calls, key=lambda one: one.lineno)[number]


def _middle(tree: ast.AST) -> ast.Call:
    return next(one for one in ast.walk(tree) if isinstance(one, ast.Call) and getattr(one.func, "id", "") == "hook")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("f()\nhook()\ng()\nf()", {"hook", "g"}),
        ("f()\nif a:\n    hook()\nf()", {"hook", "a"}),
        ("for one in a:\n    f()\nhook()\nfor one in b:\n    f()", {"hook", "one", "b"}),
        ("f()\nwith hook():\n    f()", {"hook"}),
        ("x = f()\nhook()\nf()", {"x", "hook"}),
        ("if a:\n    f()\nhook()\nf()", None),
        ("hook()\nf()\nf()", None),
        ("f()\nwith hook():\n    pass\nf()", None),
        ("f()\nhook()\nif a:\n    f()", None),
        ("f()\nlambda: hook()\nf()", None),
    ],
)
def test_what_lies_between_two_calls(text: str, names: set[str] | None):
    tree = ast.parse(text)
    found = succession.between(tree, _call(tree, 0), _middle(tree), _call(tree, 1))
    assert (found and {one.id for one in found if isinstance(one, ast.Name)}) == names


@pytest.mark.parametrize(
    ("text", "is_between"),
    [
        ("for one in a:\n    f()\n    hook()", True),
        ("for one in a:\n    hook()\n    f()", False),
        ("for one in a:\n    f()\n    if one:\n        hook()", False),
        ("for one in a:\n    f()\n    hook()\n    break", False),
        ("f()\nhook()", False),
    ],
)
def test_what_lies_between_two_rounds(text: str, *, is_between: bool):
    tree = ast.parse(text)
    call = _call(tree, 0)
    assert (succession.between(tree, call, _middle(tree), call) is not None) == is_between
