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


def change(how: str, name: str, *path: str, at: int = 1, until: int | None = None) -> dict[str, Any]:
    return {"how": how, "name": name, "path": list(path), "module": "model", "at": at, "until": until}


def told(trace: dict[str, Any]) -> str:
    """What was told of changes, in the order of calls."""
    return "; ".join(call["changed"] for call in trace["calls"] if "changed" in call)


def changing(project: Project, setup: str, expression: str, *what: dict[str, Any]) -> tuple[str, list[Any]]:
    """What was told of changes, and the results of three calls."""
    text = f"import torch\n{setup}\n@torch.compile\ndef step(x):\n    return {expression}\n\n"
    text += "def main():\n    for _ in range(3):\n        step(torch.ones(2))\n"
    trace = project.arm(text, changes=what)
    assert trace["stop"] == {"kind": "end"}, trace["stop"]
    return told(trace), [result(call) for call in trace["calls"]]


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
    ("import os", "x * int(os.environ.get('EXACT', '0'))", change("environment", "EXACT"),
     "`EXACT` was set from '' to '1'", [1, 1]),
    ("import os\nos.environ['EXACT'] = '1'", "x * int(os.environ['EXACT'])", change("environment", "EXACT"),
     "`EXACT` was set from '1' to '0'", [0, 0]),
    ("m = torch.nn.Dropout().eval()", "x * m.training", change("mode", "m"), "`m` was switched to training", [1, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("setup", "expression", "what", "text", "after"), CHANGES)
def test_state_is_changed_before_the_second_call(
    project: Project, setup: str, expression: str, what: dict[str, Any], text: str, after: list[float]
) -> None:
    changed, results = changing(project, setup, expression, what)
    assert changed == text
    assert results[1:] == [after, after]
    assert results[0] != after


def test_state_is_changed_before_a_later_call(project: Project) -> None:
    changed, results = changing(project, "SCALE = 2", "x * SCALE", change("rebind", "SCALE", at=2))
    assert (changed, results) == ("`SCALE` was set from 2 to 3", [[2, 2], [2, 2], [3, 3]])
    changed, results = changing(project, "SCALE = 2", "x * SCALE", change("rebind", "SCALE", at=7))
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
    what = {"how": "rebind", "name": "SCALE", "path": [], "module": "settings", "at": 1}
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
    trace = project.arm(text, changes=[change("in-place", "model", ".weight")])
    assert [result(call) for call in trace["calls"]] == [[1], [2]]
    assert trace["calls"][1]["between"]["model.weight"][0] != trace["calls"][1]["between"]["model.weight"][1]


def test_what_was_changed_is_told_of_scripts_that_are_stopped_early(project: Project) -> None:
    trace = project.arm(
        LOOP + "\nmain()\n", driver={"kind": "block", "name": ""}, calls=3, changes=[change("rebind", "SCALE")],
        gradients=True,
    )  # fmt: skip
    assert trace["stop"] == {"kind": "enough"}
    assert told(trace) == "`SCALE` was set from 2.0 to 3.0"
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
        project.arm(text, backend, changes=[change("rebind", "SCALE")]) for backend in ("eager", "aot_eager")
    )
    assert [result(call) for call in eager["calls"]] == [[2], [3]]
    assert [result(call) for call in compiled["calls"]] == [[2], [2]]
    assert told(eager) == told(compiled) != ""


@pytest.mark.parametrize(("setup", "expression", "what", "text", "after"), CHANGES)
def test_a_change_is_undone_before_a_later_call(
    project: Project, setup: str, expression: str, what: dict[str, Any], text: str, after: list[float]
) -> None:
    changed, results = changing(project, setup, expression, {**what, "until": 2})
    assert changed == text
    assert results[1] == after
    assert results[2] == results[0] != after


def test_changes_are_made_and_undone_in_turn(project: Project) -> None:
    turns = [change("rebind", "A", at=1, until=2), change("rebind", "B", at=2, until=3)]
    changed, results = changing(project, "A = 1\nB = 10", "x * A + B", *turns)
    assert changed == "`A` was set from 1 to 2; `B` was set from 10 to 11"
    assert results == [[11, 11], [12, 12], [12, 12]]


def test_each_part_of_a_module_gets_back_its_own_mode(project: Project) -> None:
    setup = "m = torch.nn.Sequential(torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval())"
    expression = "x * sum(part.training for part in m.modules())"
    _, results = changing(project, setup, expression, change("mode", "m", until=2))
    assert results == [[2, 2], [0, 0], [2, 2]]


LAYOUTS: list[Any] = [
    ("x = torch.ones(3)\n    step(x, x)", "a is b"),
    ("x = torch.ones(4)\n    step(x, x[1:3])", "a.untyped_storage()._cdata == b.untyped_storage()._cdata"),
    ("x = torch.ones(4)\n    step(x, x[1:3])", "b.storage_offset() == 1"),
    ("x = torch.ones(1)\n    step(x, x.expand(3))", "b.stride() == (0,)"),
    ("x = torch.ones(2, 3)\n    step(x, x.t())", "b.stride() == (1, 3)"),
    ("x = torch.ones(2, requires_grad=True)\n    step(x * 2, x)", "a.requires_grad"),
    ("x = torch.ones(2)\n    x.scale = 3\n    step(x, x)", "a.scale == 3"),
]


@pytest.mark.parametrize(("calls", "expression"), LAYOUTS)
def test_repeated_calls_get_arguments_of_the_same_layout(project: Project, calls: str, expression: str) -> None:
    text = f"import torch\n@torch.compile\ndef step(a, b):\n    return torch.ones(1) * ({expression})\n\n"
    text += f"def main():\n    {calls}\n"
    trace = project.arm(text, repeat=3)
    assert [result(call) for call in trace["calls"]] == [[1]] * 3


def test_repeated_calls_do_not_see_what_the_others_did_to_their_arguments(project: Project) -> None:
    text = """\
    import torch

    @torch.compile
    def step(a, b):
        a.add_(1)
        return b.sum()

    def main():
        x = torch.zeros(2)
        step(x, x[:1])
    """
    trace = project.arm(text, repeat=3)
    assert [result(call) for call in trace["calls"]] == [[1]] * 3


def test_repeating_a_call_does_not_compile_it_again(project: Project) -> None:
    text = """\
    import torch
    from torch._dynamo import nonstrict_trace
    TRACED = []

    @nonstrict_trace
    def body(a, b):
        TRACED.append(0)
        return a + b

    @torch.compile
    def step(a, b):
        return body(a, b)

    def main():
        x = torch.ones(3)
        step(x, x)
    """
    trace = project.arm(text, "aot_eager", repeat=3)
    assert ["TRACED" in call["state"] for call in trace["calls"]] == [True, False, False]
