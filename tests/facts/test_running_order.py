"""The order in which the parts of a text run: what each run of it comes to."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.running_order import order_of
from nonstrict.facts.walk import own_scope


@pytest.mark.parametrize(
    ("body", "always"),
    [
        ("here()", True),
        ("return x + here()", True),
        ("if here(): pass", True),
        ("if x: here()", False),
        ("if x: pass\n    else: here()", False),
        ("while here(): pass", True),
        ("while x: here()", False),
        ("for _ in x: here()", True),
        ("with here(): pass", True),
        ("with x: here()", True),
        ("try: here()\n    except ValueError: pass", False),
        ("return here() and x", True),
        ("return x and here()", False),
        ("return x if here() else 1", True),
        ("return here() if x else 1", False),
        ("return [here() for _ in x]", True),
    ],
)
def test_what_each_run_comes_to(body: str, always: bool):
    tree = ast.parse(f"def f(x):\n    {body}\n")
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = [one for one in own_scope(function) if isinstance(one, ast.Call) and ast.unparse(one.func) == "here"]
    assert [order_of(function).is_always(one) for one in calls] == [always]
