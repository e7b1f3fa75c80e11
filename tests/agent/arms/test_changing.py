"""Changing one piece of state between two calls, as the program itself would."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import result

if TYPE_CHECKING:
    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

LOOP = """\
import torch
SCALE = 2.0

@torch.compile
def step(x):
    return x * SCALE

def main():
    for number in range(8):
        step(torch.full((2,), float(number)))
"""


def change(how: str, name: str, *path: str) -> dict[str, Any]:
    return {"how": how, "name": name, "path": list(path), "module": "model"}


def changing(project: Project, setup: str, expression: str, what: dict[str, Any], at: int = 1) -> tuple[str, list[Any]]:
    """What was told of a change, and the results of three calls."""
    text = f"import torch\n{setup}\n@torch.compile\ndef step(x):\n    return {expression}\n\n"
    text += "def main():\n    for _ in range(3):\n        step(torch.ones(2))\n"
    trace = project.arm(text, change=what, change_at=at)
    assert trace["stop"] == {"kind": "end"}, trace["stop"]
    return trace["changed"], [result(call) for call in trace["calls"]]


OBJECT = """\
class Settings:
    scale = 1.0

settings = Settings()
settings.scale = 4.0
settings.table = {"w": [1.0, 2.0]}
"""
CHANGES: list[Any] = [
    ("SCALE = 2", "x * SCALE", change("rebind", "SCALE"), "`SCALE` was set from 2 to 3", [3, 3]),
    ("SCALE = 2.5", "x * SCALE", change("rebind", "SCALE"), "`SCALE` was set from 2.5 to 3.5", [3.5, 3.5]),
    ("FLAG = True", "x * FLAG", change("rebind", "FLAG"), "`FLAG` was set from True to False", [0, 0]),
    ("W = torch.ones(2)", "x * W", change("rebind", "W"), "`W` was replaced", [2, 2]),
    ("W = torch.tensor([True, False])", "x * W", change("rebind", "W"), "`W` was replaced", [0, 1]),
    ("W = [1, 2]", "x * W[1]", change("rebind", "W"), "`W` was replaced", [3, 3]),
    ("W = (1, 2)", "x * W[1]", change("rebind", "W"), "`W` was replaced", [3, 3]),
    ("W = {'a': 1}", "x * W['a']", change("rebind", "W"), "`W` was replaced", [2, 2]),
    ("W = {'a': 1}", "x * W['a']", change("rebind", "W", '["a"]'), '`W["a"]` was set from 1 to 2', [2, 2]),
    ("W = {'a': 1}", "x * W['a']", change("rebind", "W", "[]"), "`W[]` was set from 1 to 2", [2, 2]),
    ("W = [5, 6]", "x * W[1]", change("rebind", "W", "[1]"), "`W[1]` was set from 6 to 7", [7, 7]),
    (OBJECT, "x * settings.scale", change("rebind", "settings", ".scale"), "`settings.scale` was set from 4.0 to 5.0",
     [5, 5]),
    (OBJECT, "x * settings.table['w'][0]", change("rebind", "settings", ".table", "['w']", "[0]"),
     "`settings.table['w'][0]` was set from 1.0 to 2.0", [2, 2]),
    ("W = torch.ones(2)", "x * W", change("in-place", "W"), "`W` was changed in place", [2, 2]),
    ("W = [5, 6]\nV = W", "x * V[1]", change("in-place", "W"), "`W` was changed in place", [7, 7]),
    ("W = {'a': 1}\nV = W", "x * V['a']", change("in-place", "W"), "`W` was changed in place", [2, 2]),
    ("m = torch.nn.Linear(2, 2)", "x * m.training", change("mode", "m"), "`m` was switched to evaluation", [0, 0]),
    ("m = torch.nn.Dropout().eval()", "x * m.training", change("mode", "m"), "`m` was switched to training", [1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "expression", "what", "told", "after"), CHANGES)
def test_state_is_changed_before_the_second_call(
    project: Project, setup: str, expression: str, what: dict[str, Any], told: str, after: list[float]
) -> None:
    changed, results = changing(project, setup, expression, what)
    assert changed == told
    assert results[1:] == [after, after]
    assert results[0] != after


def test_state_is_changed_before_a_later_call(project: Project) -> None:
    changed, results = changing(project, "SCALE = 2", "x * SCALE", change("rebind", "SCALE"), at=2)
    assert (changed, results) == ("`SCALE` was set from 2 to 3", [[2, 2], [2, 2], [3, 3]])
    changed, results = changing(project, "SCALE = 2", "x * SCALE", change("rebind", "SCALE"), at=7)
    assert (changed, results) == ("", [[2, 2]] * 3)


FROZEN = "import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass C:\n    s: float = 1.0\n\nc = C()\n"
PROPERTY = "class C:\n    @property\n    def s(self):\n        return 1.0\n\nc = C()\n"


@pytest.mark.parametrize(
    ("setup", "expression", "what"),
    [
        ("W = (1, 2)", "x * W[0]", change("rebind", "W", "[0]")),
        (FROZEN, "x * c.s", change("rebind", "c", ".s")),
        (PROPERTY, "x * c.s", change("rebind", "c", ".s")),
        ("W = 'a'", "x", change("rebind", "W")),
        ("W = 1", "x", change("in-place", "W")),
        ("W = 1", "x", change("mode", "W")),
        ("W = 1", "x", change("rebind", "ABSENT")),
        ("W = [1]", "x", change("rebind", "W", "[3]")),
        ("W = [1]", "x", change("rebind", "W", "[index]")),
        ("W = torch.zeros(2, dtype=torch.uint16)", "x", change("in-place", "W")),
    ],
)
def test_what_cannot_be_changed_is_left_as_it_is(
    project: Project, setup: str, expression: str, what: dict[str, Any]
) -> None:
    assert changing(project, setup, expression, what) == ("", [[1, 1]] * 3)


def test_a_global_of_another_module_is_rebound_there(project: Project) -> None:
    project.write("settings.py", "SCALE = 2\n")
    what = {"how": "rebind", "name": "SCALE", "path": [], "module": "settings"}
    changed, results = changing(project, "import settings", "x * settings.SCALE", what)
    assert (changed, results) == ("`SCALE` was set from 2 to 3", [[2, 2], [3, 3], [3, 3]])


def test_a_parameter_is_changed_in_place_in_a_module_that_is_compiled(project: Project) -> None:
    text = """\
    import torch
    model = torch.nn.Linear(1, 1, bias=False)
    torch.nn.init.ones_(model.weight)
    compiled = torch.compile(model)

    def main():
        for _ in range(2):
            compiled(torch.ones(1))
    """
    trace = project.arm(text, change=change("in-place", "model", ".weight"), change_at=1)
    assert [result(call) for call in trace["calls"]] == [[1], [2]]
    assert trace["calls"][1]["between"]["model.weight"][0] != trace["calls"][1]["between"]["model.weight"][1]


def test_what_was_changed_is_told_of_scripts_that_are_stopped_early(project: Project) -> None:
    trace = project.arm(
        LOOP + "\nmain()\n", driver={"kind": "block", "name": ""}, calls=3, change=change("rebind", "SCALE"),
        change_at=1, gradients=True,
    )  # fmt: skip
    assert trace["stop"] == {"kind": "enough"}
    assert trace["changed"] == "`SCALE` was set from 2.0 to 3.0"
    assert [result(call) for call in trace["calls"]] == [[0, 0], [3, 3], [6, 6]]
    assert "gradients" in trace


def test_a_captured_number_is_stale_in_the_compiled_arm_alone(project: Project) -> None:
    text = """\
    import torch
    from torch._dynamo import nonstrict_trace
    SCALE = 2

    @nonstrict_trace
    def scaled(x):
        return x * SCALE

    @torch.compile
    def step(x):
        return scaled(x)

    def main():
        for _ in range(2):
            step(torch.ones(1))
    """
    eager, compiled = (
        project.arm(text, backend, change=change("rebind", "SCALE"), change_at=1) for backend in ("eager", "aot_eager")
    )
    assert [result(call) for call in eager["calls"]] == [[2], [3]]
    assert [result(call) for call in compiled["calls"]] == [[2], [2]]
    assert eager["changed"] == compiled["changed"] != ""
