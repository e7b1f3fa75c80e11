"""Which tensors are surely on the CPU: by what makes them, and what they are computed of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.contracts.regions.devices import is_made_there
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path

_TEXT = """\
import numpy
import torch

import elsewhere

n, data, unknown = int(input()), numpy.ones(3), elsewhere.made
x, gpu = torch.ones(3, 4), torch.ones(3, 4, device="cuda")
device = torch.device(unknown())
listed = [torch.rand(3) for _ in range(4)]
mixed = [x, gpu]
asked = {}
"""


@pytest.mark.parametrize(
    ("expression", "made_there"),
    [
        ("torch.randn(3)", True),
        ("torch.randn(n, 4)", True),
        ("torch.zeros(unknown())", True),
        ("torch.arange(6.0).reshape(2, 3)", True),
        ("torch.randint(0, 5, (3,))", True),
        ("torch.tensor([1.0, 2.0])", True),
        ("torch.from_numpy(data)", True),
        ("torch.eye(3)", True),
        ("x + 1", True),
        ("-x * 2 > x", True),
        ("x[0]", True),
        ("x.T", True),
        ("x.view(-1).float()", True),
        ("x.to(torch.float16)", True),
        ("x.to('cpu')", True),
        ("torch.stack([x, x])", True),
        ("torch.zeros_like(x)", True),
        ("torch.zeros_like(gpu)", False),
        ("torch.ones(3, device='cpu')", True),
        ("torch.ones(3, device=torch.device('cpu'))", True),
        ("gpu.to(torch.device('cpu'))", True),
        ("x.to(torch.device('cuda:0'))", False),
        ("torch.ones(3, device=torch.device(unknown()))", False),
        ("gpu.cpu()", True),
        ("gpu.to('cpu') + x", True),
        ("listed[0]", True),
        ("mixed[1]", False),
        ("torch.randn(3, device='cuda')", False),
        ("torch.randn(3, device=device)", False),
        ("torch.randn(3, device=unknown())", False),
        ("torch.randn_like(gpu)", False),
        ("x.cuda()", False),
        ("x.to(device)", False),
        ("x.to(unknown())", False),
        ("x.to(gpu)", False),
        ("x + gpu[0]", False),
        ("torch.cat([x, gpu])", False),
        ("torch.tensor(2.0) * gpu", False),
        ("unknown() + 1", False),
        ("torch.add(x, unknown())", False),
        ("x * elsewhere.WEIGHT", False),
        ("torch.load('weights.pt')", False),
        ("torch.nn.Parameter(x)", False),
        ("3", False),
    ],
)
def test_what_is_on_the_cpu(tmp_path: Path, expression: str, made_there: bool):
    path = tmp_path / "program.py"
    path.write_text(_TEXT.format(expression))
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    assert is_made_there(machine.global_value(module, "asked")) is made_there
