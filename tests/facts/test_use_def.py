"""Reaching definitions of one function: what a variable is bound to, where that is one thing."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.use_def import Part, UseDef, use_def


def index(body: str, parameters: str = "") -> UseDef:
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function = ast.parse(f"def f({parameters}):\n{lines}").body[0]
    assert isinstance(function, ast.FunctionDef)
    return use_def(function)


def told(found: UseDef, name: str) -> str | None:
    """The value of a variable as a text, with the part of it."""
    only = found.only(name)
    if only is None or only.value is None:
        return None
    text = ast.unparse(only.value)
    return text if only.part is None else f"{text} [{only.part.at} of {only.part.number}]"


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("x = g()", "g()"),
        ("x: int = g()", "g()"),
        ("if (x := g()): pass", "g()"),
        ("x = y = g()", "g()"),
        ("x, y = g(), h()", "g()"),
        ("(y, x), z = (1, g()), 2", "g()"),
        ("y, x = g()", "g() [1 of 2]"),
        ("[x, y, z] = g()", "g() [0 of 3]"),
        ("y = [k := g() for _ in z]\nx = k", "k"),
    ],
)
def test_what_a_variable_is_bound_to(body: str, value: str):
    assert told(index(body), "x") == value


@pytest.mark.parametrize(
    "body",
    [
        "x = 1\nx = 2",
        "x = 1\nx += 1",
        "x = 1\nfor x in y: pass",
        "x = 1\nfor y, *x in z: pass",
        "x = 1\nwith g() as (x, y): pass",
        "x = 1\nimport x.y",
        "x = 1\nfrom y import z as x",
        "x = 1\ndef x(): pass",
        "x = 1\nclass x: pass",
        "x = 1\ntry: pass\nexcept E as x: pass",
        "x = 1\nmatch y:\n    case [1, *x]: pass",
        "x = 1\nmatch y:\n    case {'a': 1, **x}: pass",
        "x = 1\nmatch y:\n    case x: pass",
        "x = 1\ndel x",
        "x = 1\nz = [x for x in y]",
        "global x\nx = 1",
        "nonlocal x\nx = 1",
        "x = 1\ndef inner():\n    nonlocal x\n    x = 2",
        "y = 1",
    ],
)
def test_what_is_not_bound_once(body: str):
    assert index(body).only("x") is None
    assert index(body).value("x") is None


@pytest.mark.parametrize("body", ["for x in y: pass", "with g() as x: pass", "import x", "*x, y = g()", "x, *y = g()"])
def test_what_is_bound_once_to_what_no_expression_says(body: str):
    only = index(body).only("x")
    assert only is not None
    assert only.value is None


def test_a_parameter_is_bound_by_the_call_too():
    assert index("x = g()", "x").only("x") is None
    assert index("x = g()", "*x").only("x") is None
    assert index("x = g()", "y").only("x") is not None


def test_functions_inside_have_variables_of_their_own():
    found = index("x = g()\ndef inner():\n    x = 2\nh = lambda: (x := 3)")
    assert told(found, "x") == "g()"
    assert sorted(name for name, _ in found.once()) == ["h", "inner", "x"]


def test_a_part_is_no_whole():
    found = index("x, y = g()")
    assert found.value("x") is None
    assert found.definitions["x"][0].part == Part(0, 2)


def test_a_function_is_looked_through_once():
    function = ast.parse("lambda: (x := 1)", mode="eval").body
    assert isinstance(function, ast.Lambda)
    assert use_def(function) is use_def(function)
    assert told(use_def(function), "x") == "1"


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("x = g()\nif x: x = h()", ["g()", "h()"]),
        ("x = g()\nx += 1", ["g()", None]),
        ("for x in y: pass", [None]),
        ("x = g()\ndef inner():\n    nonlocal x\n    x = 1", []),
        ("global x\nx = g()", []),
    ],
)
def test_all_that_a_variable_is_bound_to(body: str, values: list[str | None]):
    assert [one.value and ast.unparse(one.value) for one in index(body).every("x")] == values
