"""What the interpreter records of every expression, and how it is asked afterwards."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

import pytest

from nonstrict.facts.scopes import scope_of
from nonstrict.program import engine
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Summary, span_of
from nonstrict.program.domain.held import Held
from nonstrict.program.domain.values import NUMBER, Flag, Kind, Value
from nonstrict.program.interpret import bodies
from nonstrict.program.linking.project import Project
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from pathlib import Path

_HELPERS = """
import torch

SCALE = 2.0

def twice(t):
    return t + t

def f(x, y, n):
"""


def held(folder: Path, body: str, text: str) -> Value | None:
    """What an expression holds, the last one with that text, where `f` is called with two tensors and a number."""
    path = folder / "program.py"
    path.write_text(_HELPERS + textwrap.indent(body, "    "))
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    function = machine.global_value(module, "f").function
    assert function is not None
    summary = Summary("f")
    frame = Frame(machine, module, function.offset, summary, function=function, scope=scope_of(function.node))
    frame.env |= {name: Value(Kind.TENSOR, AccessPath(Root.ARGUMENT, "", name)) for name in "xy"} | {"n": NUMBER}
    bodies.run(machine, frame)
    asked = [node for node in ast.walk(ast.parse(path.read_text())) if _is_written(node, text)]
    spans = [span_of(str(path), 0, node) for node in asked]
    return Held(summary, function).at(max(spans))


def _is_written(node: ast.AST, text: str) -> bool:
    return isinstance(node, (ast.expr, ast.arg, ast.Return)) and ast.unparse(node) == text


@pytest.mark.parametrize(
    ("body", "text", "kinds"),
    [
        ("return x * n", "x * n", {Kind.TENSOR}),
        ("return x * n", "n", {Kind.NUMBER}),
        ("return x * SCALE", "SCALE", {Kind.NUMBER}),
        # So is what a statement binds, and what one returns.
        ("a, b = x.shape, x\nreturn a", "b", {Kind.TENSOR}),
        ("return x * n", "return x * n", {Kind.TENSOR}),
        # Each round of a loop, and each of two ways, may find something else.
        ("total = 0\nfor _ in range(n):\n    total = x.add(total)", "total", {Kind.NUMBER, Kind.TENSOR}),
        ("y = 1 if n else x\nreturn y + n", "y", {Kind.NUMBER, Kind.TENSOR}),
        ("n += x\nreturn x", "n", {Kind.NUMBER, Kind.TENSOR}),
        # A helper holds what all of its calls pass.
        ("return twice(x)", "t + t", {Kind.TENSOR}),
        ("return twice(x), twice(n)", "t + t", {Kind.NUMBER, Kind.TENSOR}),
        ("return twice(x), twice(n)", "t", {Kind.NUMBER, Kind.TENSOR}),
        # A lambda and what it returns are two things.
        ("g = lambda a: a + n\nreturn g(x)", "a + n", {Kind.TENSOR}),
        ("g = lambda a: a + n\nreturn g(x)", "lambda a: a + n", {Kind.FUNCTION}),
    ],
)
def test_every_expression_holds_what_it_was(body: str, text: str, kinds: set[Kind], tmp_path: Path):
    value = held(tmp_path, body, text)
    assert value is not None
    assert {one.kind for one in value.alternatives()} == kinds


@pytest.mark.parametrize(("body", "text"), [("return x", "t + t"), ("return x\nreturn y", "y")])
def test_what_never_runs_holds_nothing(body: str, text: str, tmp_path: Path):
    assert held(tmp_path, body, text) is None


@pytest.mark.parametrize(
    ("text", "known"),
    [
        ("x.sum()", True),
        ("x.sum(dtype=torch.float64)", True),
        ("x.max()", True),
        ("torch.tensor(3.0)", True),
        ("-x.sum() * n", True),
        ("x.sum() > 0", True),
        ("(x > 0).any() & (y > 0).all()", True),
        ("x.sum().detach().double()", True),
        ("torch.where(x.sum() > 0, x.sum(), 1.0)", True),
        # A dimension that is left out, or kept, leaves others.
        ("x.sum(dim=0)", False),
        ("x.norm(p=2, keepdim=True)", False),
        # One operand with dimensions is enough.
        ("x.sum() * y", False),
        ("torch.where(x > 0, x.sum(), 1.0)", False),
        # How many dimensions a product has depends on how many its operands have.
        ("x @ y", False),
        # Calls are not told apart by that.
        ("twice(x.sum())", False),
    ],
)
def test_which_tensors_surely_have_no_dimensions(text: str, known: bool, tmp_path: Path):
    value = held(tmp_path, f"return {text}", ast.unparse(ast.parse(text)))
    assert value is not None
    assert bool(value.flags & Flag.SCALAR) is known
