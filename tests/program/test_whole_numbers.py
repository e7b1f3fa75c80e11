"""Which numbers are surely whole: what counts gives them, and they stay so as long as nothing divides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("expression", "whole"),
    [
        ("3", True),
        ("x.ndim", True),
        ("x.shape[0]", True),
        ("x.size(0)", True),
        ("x.numel()", True),
        ("x.element_size()", True),
        ("torch.numel(x)", True),
        ("len(x)", True),
        ("int(x.shape[0] / 2)", True),
        ("-x.shape[0] // 2 + 1", True),
        ("max(x.shape[0], 4)", True),
        ("sum(x.shape)", True),
        ("abs(x.ndim - 3)", True),
        ("abs(x.ndim - 0.5)", False),
        ("x.shape[0] / 2", False),
        ("x.shape[0] ** x.ndim", False),
        ("x.shape[0] * 0.5", False),
        ("float(x.shape[0])", False),
        ("max(x.shape[0], 0.5)", False),
        ("x.item()", False),
        ("x.shape[:1]", False),
    ],
)
def test_what_is_whole(tmp_path: Path, expression: str, whole: bool):
    path = tmp_path / "program.py"
    path.write_text(f"import torch\nx = torch.ones(3, 4)\nasked = {expression}\n")
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    assert machine.global_value(module, "asked").is_whole is whole
