"""Programs are loaded by the name, and import from the folders, that the analysis found."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

HELPER = "import torch\n\nSCALE = torch.full((2,), 3.0)\n"
MAIN = """\
import torch
{}

@torch.compile(fullgraph=True)
def region(x):
    return x * SCALE

def main():
    region(torch.ones(2))
"""


@pytest.mark.parametrize(
    ("path", "importing", "name"),
    [
        pytest.param("models/att.py", "from models.helper import SCALE", "att", id="a folder without __init__.py"),
        pytest.param("models/att.py", "from .helper import SCALE", "models.att", id="relative"),
        pytest.param(
            "tools/run.py",
            "import sys\nsys.path.insert(0, 'models')\nfrom helper import SCALE",
            "run",
            id="on sys.path",
        ),
    ],
)
def test_modules_of_the_project_are_found(project: Project, path: str, importing: str, name: str):
    project.write("models/helper.py", HELPER)
    project.write("pyproject.toml")
    text = MAIN.format(importing)
    assert project.job(text, path=path)["module"] == name
    (call,) = project.calls(text, path=path)
    assert "error" not in call
