"""The shape of an expression at the top level of a module: its variables by all that they are bound to.

A size that is not known is None, as is the shape where the number of sizes is not known.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.contracts.regions.shapes import shape
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path


def told(folder: Path, body: str) -> tuple[int | None, ...] | None:
    """The shape of the expression that is the last line of a program."""
    path = folder / "program.py"
    path.write_text(f"import torch\nfrom elsewhere import given\n{body}\n")
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    asked = module.outline.shell.body[-1]
    assert isinstance(asked, ast.Expr)
    return shape(machine.module_frame(module), asked.value)


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("torch.ones(2, 3)", (2, 3)),
        ("torch.tensor([[1, 2, 3]])", (1, 3)),
        ("torch.tensor(3)", ()),
        ("torch.tensor(given)", None),
        ("x = torch.ones(3, 1)\ntorch.empty_like(x) + torch.ones(4)", (3, 4)),
        ("n = 3\ntorch.ones(n, given)", (3, None)),
        ("n = 3\ntorch.cat([torch.ones(n), torch.ones(2)])", (5,)),
        ("x, y = torch.ones(3), torch.ones(4)\ny", (4,)),
        ("values, places = torch.ones(3, 4).max(0)\nplaces", (4,)),
        ("torch.ones(3, 4).sum(0, keepdim=True)", (1, 4)),
        # Torch gives the tensor that is written into the shape of the result.
        ("out = torch.empty(0)\ntorch.add(torch.ones(3), 1, out=out)", (3,)),
    ],
)
def test_what_is_made(tmp_path: Path, body: str, sizes: tuple[int | None, ...] | None):
    assert told(tmp_path, body) == sizes


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("row.argmax()", ()),
        ("torch.trace(row)", ()),
        ("row.argmax(0)", None),
        ("row", None),
    ],
)
def test_methods_of_what_is_not_known_are_those_of_tensors(
    tmp_path: Path, body: str, sizes: tuple[int | None, ...] | None
):
    assert told(tmp_path, f"for row in given:\n    pass\n{body}") == sizes


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        ("x[0]", (4,)),
        ("x[torch.ones(5, 6)]", (5, 6, 4)),
        ("x[x.argmax()]", (4,)),
        ("x[x > 0]", (None,)),
        ("x[given]", None),
    ],
)
def test_parts(tmp_path: Path, body: str, sizes: tuple[int | None, ...] | None):
    assert told(tmp_path, f"x = torch.ones(3, 4)\n{body}") == sizes


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        # By what it holds: a loop keeps the shape.
        ("best = torch.tensor(0)\nfor _ in given:\n    best = best + 1\nbest", ()),
        ("best = 0\nfor x in given:\n    best = x.argmax()\nbest", ()),
        ("if given:\n    x = torch.ones(3, 4)\nelse:\n    x = torch.ones(5, 4)\nx", (None, 4)),
        ("if given:\n    x = torch.ones(3)\nelse:\n    x = torch.ones(5, 4)\nx", None),
        ("for x in given:\n    pass\nx", None),
        ("x = torch.ones(3)\nx += given\nx", None),
    ],
)
def test_several_bindings(tmp_path: Path, body: str, sizes: tuple[int | None, ...] | None):
    assert told(tmp_path, body) == sizes
