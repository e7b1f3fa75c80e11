"""The sizes of what is cut out of a tensor, and along what tensors are made longer, as far as the text tells."""

from __future__ import annotations

import ast

import pytest

from nonstrict.facts.joining import joined_along
from nonstrict.facts.shapes import cuts, shape


def names(node: ast.AST) -> str:
    """The names of torch as they are written out."""
    written = ast.unparse(node)
    return written if written.startswith("torch.") else ""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x[:n]", [(0, "n")]),
        ("x[:, :n]", [(1, "n")]),
        ("x[0:n, :]", [(0, "n")]),
        ("x[i : i + 8]", [(0, "8")]),
        ("x[i : i + size]", [(0, "size")]),
        ("x[i : j + 8]", []),
        ("x[:4]", []),
        ("x[:-n]", []),
        ("x[n:]", []),
        ("x[:n:2]", []),
        ("x[0, :n]", []),
        ("x[index]", []),
        ("x", []),
    ],
)
def test_sizes_that_the_bounds_tell(text: str, told: list[tuple[int, str]]):
    expression = ast.parse(text, mode="eval").body
    assert [(at, ast.unparse(size)) for at, size in cuts(expression)] == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x[:, :n]", "4, n"),
        ("x[:, n:]", "4, 64 - n"),
        ("x[:, i : i + 8]", "4, 8"),
        ("x[:, 2:]", "4, 64 - 2"),
        ("x[1:-1]", "4 - 2, 64"),
    ],
)
def test_sizes_of_parts_of_a_tensor_of_known_size(text: str, told: str):
    module = ast.parse(f"import torch\nx = torch.randn(4, 64)\ny = {text}\n")
    assigned = module.body[-1]
    assert isinstance(assigned, ast.Assign)
    sizes = shape(names, module, assigned.value)
    assert sizes is not None
    assert ", ".join(map(ast.unparse, sizes)) == told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("torch.cat([keys, key], 1)", {1}),
        ("torch.cat((key, keys), dim=0)", {0}),
        ("torch.concat([keys, key], dim=d)", set[int]()),
        ("torch.cat([key, key], 1)", None),
        ("torch.cat([keys], 1)", None),
        ("keys + key", None),
    ],
)
def test_tensors_that_are_made_longer(text: str, told: set[int] | None):
    expression = ast.parse(text, mode="eval").body
    assert joined_along(names, expression, ("keys",)) == told
