"""The dtype of an expression, as far as the text of its function tells; of a parameter that is `like` its position."""

from __future__ import annotations

import ast

import pytest

from nonstrict.program.contracts.marks.form_tables import FLOATING
from nonstrict.program.contracts.marks.tensor_forms import Forms


def names(node: ast.AST) -> str:
    """As in a file that imports torch, and nothing else."""
    text = ast.unparse(node) if isinstance(node, (ast.Name, ast.Attribute)) else ""
    return text if text.partition(".")[0] == "torch" else ""


def dtype(body: str, **known: str) -> str:
    """The dtype of what a function of `x`, `y` and a number `n` returns."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    function = ast.parse(f"def f(x, y, n: int):\n{lines}").body[0]
    assert isinstance(function, ast.FunctionDef)
    returned = function.body[-1]
    assert isinstance(returned, ast.Return)
    assert returned.value is not None
    return Forms(function, names, known).of(returned.value).dtype


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return x", "like $0"),
        ("return x[0, 1:].T", "like $0"),
        ("return x.half()", "float16"),
        ("return torch.zeros(3)", "default"),
        ("return torch.zeros(3, dtype=torch.int32)", "int32"),
        ("return x > 0", "bool"),
        ("return x.argmax()", "int64"),
        ("values, places = x.max(0)\nreturn places", "int64"),
        ("return torch.cat([x.half(), y.half()])", "float16"),
    ],
)
def test_what_names_or_keeps_a_dtype(body: str, told: str):
    assert dtype(body) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return x.half() + 1", "float16"),
        ("return x.half() + y.half()", "float16"),
        ("return x.long() * n", "int64"),
        ("return x.long() * 0.5", FLOATING),
        ("return x.long() / 2", FLOATING),
        ("return x.half() + y", FLOATING),
        ("return x + y", ""),
    ],
)
def test_what_arithmetic_makes_of_dtypes(body: str, told: str):
    assert dtype(body) == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("z = x.half()\nif n: z = y.half()\nreturn z", "float16"),
        ("z = x.half()\nif n: z = y.double()\nreturn z", FLOATING),
        ("z = x.half()\nif n: z = y.long()\nreturn z", ""),
        ("z = x.half()\nz += y\nreturn z", "float16"),
        ("z = x.half()\nfor _ in y: z = z + 1\nreturn z", ""),
        ("if n: x = x.half()\nreturn x", ""),
    ],
)
def test_a_variable_is_of_a_dtype_if_all_that_it_is_bound_to_is(body: str, told: str):
    assert dtype(body) == told


def test_more_may_be_known_of_parameters():
    assert dtype("return x * 2", x=FLOATING) == FLOATING
    assert dtype("return ~x & y", x="bool", y="bool") == "bool"
    assert dtype("return x.softmax(0)", x="") == FLOATING
