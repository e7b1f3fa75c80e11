"""Which binding of a variable a place reads: `f(x)` in the text of a function."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.reaching import reaching


def read(body: str, parameters: str = "") -> str | None:
    """What `x` is bound to where it is passed to `f`."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function = ast.parse(f"def g({parameters}):\n{lines}").body[0]
    assert isinstance(function, ast.FunctionDef)
    calls = (node for node in ast.walk(function) if isinstance(node, ast.Call) and ast.unparse(node.func) == "f")
    found = reaching(function, "x", next(calls).args[0])
    return ast.unparse(found.value) if found is not None and found.value is not None else None


@pytest.mark.parametrize(
    "body",
    [
        "x = 1\nf(x)",
        "x = 2\nx = 1\nf(x)\nx = 3",
        "x, y = 2, 2\nx, y = 1, 2\nf(x)\nx, y = 3, 3",
        "x = 2\nx = 1\nif y: f(x)\nelse: x = 3",
        "x = 2\nx = 1\nwith y: f(x)",
        "x = 2\nx = 1\nfor y in z: f(x)",
        "x = 2\nfor y in z:\n    x = 1\n    f(x)",
        "x = 1\nx = f(x)",
        "x = 2\nif y:\n    x = 1\n    f(x)",
        "x = 2\nx = 1\ny = [f(x) for z in w]",
    ],
)
def test_the_last_binding_in_front(body: str):
    assert read(body) == "1"


@pytest.mark.parametrize(
    "body",
    [
        "f(x)\nx = 1\nx = 2",
        "x = 1\nif y: x = 2\nf(x)",
        "x = 1\nfor y in z: x = f(x)",
        "x = 1\nwhile x: f(x); x = 2",
        "x = 1\nfor x in z: f(x)",
        "x = 1\nwith y as x: f(x)",
        "x = 1\ntry: x = 2\nexcept E: f(x)",
        "x = 1\nif (x := 2): f(x)",
        "x = 1\ntry: f(x)\nfinally: x = 2",
        "x = 1\nx += 1\nf(x)",
        "x = 1\nx = 2\nlambda: 0\ndef h(): f(x)",
        "x = 1\ny = (x := 2) + f(x)",
        "x = 1\nx = 2\ndef h():\n    nonlocal x\n    x = 3\nf(x)",
        "x = 1\ny = [f(x) for x in z]",
        "x = 1\nmatch y:\n    case x: f(x)",
    ],
)
def test_nothing_is_said(body: str):
    assert read(body) is None


def test_a_parameter_that_is_bound_anew():
    assert read("x = 1\nf(x)", "x") == "1"
    assert read("if y: x = 1\nf(x)", "x") is None
