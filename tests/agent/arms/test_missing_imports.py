"""Imports that fail matter only to what needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent.arms.running import cause, result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

STEP = """

@torch.compile
def step(x):
    return x * SCALE


def main():
    step(torch.ones(2))
"""


def test_a_missing_import_matters_only_when_it_is_used(project: Project) -> None:
    text = "import torch\nimport absent_one, absent.two as two\nfrom absent_three import name\nSCALE = 2.0\n" + STEP
    trace = project.arm(text)
    assert trace["missing"] == [
        "left out: line 2: ModuleNotFoundError: No module named 'absent_one'",
        "left out: line 3: ModuleNotFoundError: No module named 'absent_three'",
    ]
    assert result(trace["calls"][0]) == [2, 2]


@pytest.mark.parametrize("use", ["absent.f()", "absent()", "absent.attribute"])
def test_using_what_is_missing_tells_why(project: Project, use: str) -> None:
    text = f"import torch\nimport absent\nSCALE = 2.0\n{STEP}\n    {use}\n"
    trace = project.arm(text)
    assert trace["stop"]["kind"] == "raised"
    error = cause(trace["stop"]["error"])
    assert error["type"] == "MissingModuleError"
    assert error["message"] == "`absent` could not be imported: No module named 'absent'"


def test_what_a_missing_module_would_have_made_is_missing_too(project: Project) -> None:
    text = """\
    import torch
    import absent
    CLIENT = absent.connect()

    class Model(absent.Base):
        pass

    class Other(absent):
        pass

    @absent.wrap
    def helper():
        pass

    absent.setup()
    SCALE = 2.0

    @torch.compile
    def step(x):
        return x * SCALE

    def main():
        step(torch.ones(2))
        Model()
    """
    trace = project.arm(text)
    assert trace["missing"] == ["left out: line 2: ModuleNotFoundError: No module named 'absent'"]
    assert result(trace["calls"][0]) == [2, 2]
    assert cause(trace["stop"]["error"])["message"] == (
        "`Model` is derived from `absent.Base`, which could not be imported: No module named 'absent'"
    )


def test_missing_imports_are_told_of_programs_that_are_stopped_early(project: Project) -> None:
    text = "import torch\nimport absent\nSCALE = 2.0\n" + STEP + "\nfor _ in range(9):\n    main()\n"
    trace = project.arm(text, calls=2, driver={"kind": "block", "name": ""})
    assert trace["stop"] == {"kind": "enough"}
    assert trace["missing"] == ["left out: line 2: ModuleNotFoundError: No module named 'absent'"]


def test_alternatives_to_an_import(project: Project) -> None:
    text = "import torch\ntry:\n    import absent\nexcept ImportError:\n    absent = None\nSCALE = 2.0\n" + STEP
    trace = project.arm(text)
    assert trace["missing"] == []
    assert trace["stop"] == {"kind": "end"}


def test_an_import_error_of_other_statements_is_a_failure(project: Project) -> None:
    text = "import torch\ndef optional():\n    import absent\n\n\noptional()\n"
    assert project.arm(text)["failure"] == "line 3: ModuleNotFoundError: No module named 'absent'"
