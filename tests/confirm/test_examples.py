"""Pages that define the same name again and again: each definition is run with the calls that mean it."""

from __future__ import annotations

import ast
from textwrap import dedent

from nonstrict.confirm.drivers import drivers_of
from nonstrict.confirm.examples import example_of
from nonstrict.confirm.slices import statements_of

PAGE = """
import torch
from torch.library import custom_op

@torch.compile
def f(x):
    return g(x)

def g(x):
    return x.sin()

x = torch.ones(2)
f(x)

def g(x):
    return x.cos()

module = build()

@torch.compile
def f(x):
    return g(x) + 1

f(x + 1)
print(f(x + 2))

@torch.compile
def f(x):
    return module.square(x)

f(x + 3)
"""


def example(source: str, name: str, line_of: str, nth: int = 0) -> str:
    """What is left for the function `name` with the n-th line that reads `line_of`."""
    source = dedent(source)
    tree = ast.parse(source)
    lines = [number for number, text in enumerate(source.split("\n"), 1) if text.strip() == line_of]
    statements = example_of(statements_of(tree), frozenset({name}), lines[nth])
    return "\n".join(ast.unparse(s.node) for s in statements if not isinstance(s.node, ast.Pass))


def run(source: str, name: str, line_of: str, nth: int = 0) -> str:
    """What the first driver for it executes."""
    source = dedent(source)
    tree = ast.parse(source)
    lines = [number for number, text in enumerate(source.split("\n"), 1) if text.strip() == line_of]
    statements = example_of(statements_of(tree), frozenset({name}), lines[nth])
    kept = drivers_of(statements, [name])[0].kept
    return "\n".join(ast.unparse(node) for n, node in enumerate(tree.body) if n in kept)


def test_an_example_ends_with_the_next_definition_of_its_name():
    left = example(PAGE, "f", "return g(x)")
    assert "f(x)" in left
    assert "x.sin()" in left
    assert "x.cos()" not in left
    assert "f(x + 1)" not in left


def test_definitions_that_were_replaced_are_gone():
    left = example(PAGE, "f", "return g(x) + 1")
    assert "x.cos()" in left
    assert "x.sin()" not in left


def test_calls_before_mean_another_function():
    assert [line for line in run(PAGE, "f", "return module.square(x)").split("\n") if line.startswith("f(")] == [
        "f(x + 3)"
    ]


def test_what_an_example_does_not_need_is_not_run():
    assert "build" not in run(PAGE, "f", "return g(x) + 1")
    assert "build" in run(PAGE, "f", "return module.square(x)")


def test_a_file_that_defines_each_name_once_is_one_example():
    source = "def f(x):\n    return x\n\nf(1)\nf = wrap(f)\nf(2)\n"
    assert example(source, "f", "return x") == ast.unparse(ast.parse(source)).replace("\n\n", "\n")


def test_operators_stay_registered_when_their_name_is_used_again():
    source = """
    @custom_op("a::square", mutates_args=())
    def square(x):
        return x * x

    def f(x):
        return torch.ops.a.square(x)

    f(1)

    def square(x):
        return x

    def f(x):
        return square(x)

    f(2)
    """
    assert "a::square" in example(source, "f", "return square(x)")


def test_a_definition_that_is_replaced_between_two_calls_stays():
    source = """
    def helper(x):
        return x

    def f(x):
        return helper(x)

    f(1)

    def helper(x):
        return x + 1

    f(2)

    def f(x):
        return x
    """
    assert example(source, "f", "return helper(x)").count("def helper") == 2
