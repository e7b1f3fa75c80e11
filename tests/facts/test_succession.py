"""What runs between two calls of one text, and what each run of a function comes to."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts import succession
from nonstrict.facts.walk import walk


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


@pytest.mark.parametrize(
    ("body", "always"),
    [
        ("here()", True),
        ("return x + here()", True),
        ("if here(): pass", True),
        ("if x: here()", False),
        ("if x: pass\n    else: here()", False),
        ("if x: return 1\n    here()", False),
        ("if x: raise ValueError\n    here()", True),
        ("def g(): return 1\n    here()", True),
        ("while here(): pass", True),
        ("while x: here()", False),
        ("for _ in x: here()", True),
        ("for _ in here(): pass", True),
        ("for _ in x: pass\n    else: here()", False),
        ("for y in x:\n        if y: continue\n        here()", False),
        ("for y in x:\n        if y: break\n    here()", True),
        ("for z in x:\n        for y in z:\n            if y: break\n        here()", True),
        ("for z in x:\n        if z: break\n        for y in z:\n            here()", False),
        ("with here(): pass", True),
        ("with x: here()", True),
        ("try: here()\n    except ValueError: pass", False),
        ("match here():\n        case 1: pass", True),
        ("match x:\n        case 1: here()", False),
        ("assert here()", True),
        ("assert x, here()", False),
        ("return here() and x", True),
        ("return x and here()", False),
        ("return x if here() else 1", True),
        ("return here() if x else 1", False),
        ("return [here() for _ in x]", True),
        ("return [here() for y in x if y]", False),
        ("return [y for y in x if here()]", False),
        ("return [y for y in here() if y]", True),
        ("return {y: here() for y in x}", True),
        ("return (here() for _ in x)", False),
        ("return any(y for y in here())", True),
        ("return lambda: here()", False),
    ],
)
def test_what_each_run_comes_to(body: str, *, always: bool):
    function = ast.parse(f"def f(x):\n    {body}\n").body[0]
    assert isinstance(function, ast.FunctionDef)
    (call,) = [one for one in walk(function) if isinstance(one, ast.Call) and ast.unparse(one.func) == "here"]
    assert succession.surely_runs(function, call) == always
