"""Setting a program going, how far it is followed, and what is changed in between."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import cause, effects, result

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


def test_the_driver_is_a_function_or_a_method(project: Project) -> None:
    text = LOOP + "\n\nclass Runner:\n    @staticmethod\n    def run():\n        step(torch.ones(1))\n"
    assert [result(call) for call in project.calls(text, driver="Runner.run")] == [[2]]


def test_a_driver_that_is_not_there_is_what_raised(project: Project) -> None:
    trace = project.arm(LOOP, driver="absent")
    assert trace["stop"]["kind"] == "raised"
    assert cause(trace["stop"]["error"])["type"] == "AttributeError"


@pytest.mark.parametrize("kind", ["function", "block"])
def test_enough_calls_end_the_program(project: Project, kind: str) -> None:
    text = LOOP if kind == "function" else LOOP + "\nmain()\nraise ValueError('never reached')\n"
    trace = project.arm(text, driver={"kind": kind, "name": "main"}, calls=3)
    assert trace["stop"] == {"kind": "enough"}
    assert [result(call) for call in trace["calls"]] == [[0, 0], [2, 2], [4, 4]]
    assert "failure" not in trace


def test_no_handler_of_the_program_keeps_it_from_ending(project: Project) -> None:
    text = LOOP + "\n\ndef stubborn():\n    try:\n        main()\n    except Exception:\n        main()\n"
    trace = project.arm(text, driver="stubborn", calls=2)
    assert trace["stop"] == {"kind": "enough"}
    assert len(trace["calls"]) == 2


def test_fewer_calls_than_enough(project: Project) -> None:
    trace = project.arm(LOOP, calls=8)
    assert trace["stop"] == {"kind": "end"}
    assert len(trace["calls"]) == 8


def test_a_driver_that_raises(project: Project) -> None:
    text = LOOP + "\n\ndef failing():\n    step(torch.ones(2))\n    raise KeyError('weights')\n"
    trace = project.arm(text, driver="failing")
    assert trace["stop"]["kind"] == "raised"
    raised = cause(trace["stop"]["error"])
    assert (raised["type"], raised["message"], raised["told"]) == ("KeyError", "'weights'", False)
    assert raised["frames"] == [[str(project.directory / "model.py"), 15]]
    assert [result(call) for call in trace["calls"]] == [[2, 2]]


def test_a_region_that_raises_ends_the_program_unless_it_is_caught(project: Project) -> None:
    text = """\
    import torch

    @torch.compile
    def step(x):
        if x.shape[0] == 2:
            raise ValueError("two")
        return x

    def main():
        for size in (1, 2, 3):
            step(torch.ones(size))

    def careful():
        for size in (1, 2, 3):
            try:
                step(torch.ones(size))
            except ValueError:
                pass
    """
    trace = project.arm(text)
    assert trace["stop"]["kind"] == "raised"
    assert ["error" in call for call in trace["calls"]] == [False, True]
    assert ["error" in call for call in project.calls(text, driver="careful")] == [False, True, False]
    assert cause(trace["calls"][1]["error"])["message"] == "two"


def test_the_first_call_is_repeated_with_arguments_as_they_were(project: Project) -> None:
    text = """\
    import torch
    CALLS = []

    @torch.compile
    def step(x, sizes):
        CALLS.append(1)
        sizes.append(0)
        return x.add_(1)

    def main():
        x = torch.zeros(1)
        step(x, [])
        step(x, [1, 2])
    """
    calls = project.calls(text, repeat=3)
    assert [result(call) for call in calls] == [[1], [1], [1], [2]]
    assert [call["inputs"]["sizes"] for call in calls] == ["list[0]"] * 3 + ["list[2]"]
    assert effects(calls[2])["CALLS"] == ["list[2]", "list[3]"]


def test_repeated_modules_are_the_same_objects(project: Project) -> None:
    text = """\
    import torch

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = 0

        def forward(self, x):
            self.seen += 1
            return x * self.seen

    model = Model()

    @torch.compile
    def step(model, x):
        return model(x)

    def main():
        step(model, torch.ones(1))
    """
    assert [result(call) for call in project.calls(text, repeat=3)] == [[1], [2], [3]]


MARKED = """\
import torch
from torch._dynamo import nonstrict_trace

class Helper:
    @nonstrict_trace
    def scaled(self, x):
        return x * 3

@nonstrict_trace
def other(x):
    return x + 1

@torch.compile
def step(x):
    return other(Helper().scaled(x))

def main():
    step(torch.ones(1))
"""


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_one_marked_function_is_compiled_alone(project: Project, backend: str) -> None:
    (call,) = project.calls(MARKED, backend, alone="other")
    assert call["region"] == "other"
    assert call["inputs"]["x"].startswith("tensor float32 [1] ")
    assert result(call) == [4]
    (call,) = project.calls(MARKED, "eager", alone="Helper.scaled")
    assert (call["region"], result(call)) == ("Helper.scaled", [3])


def test_every_level_of_logging_is_switched_on(project: Project) -> None:
    text = """\
    import logging
    import torch
    logger = logging.getLogger(__name__)

    @torch.compile
    def step(x):
        logger.info("%d numbers", x.numel())
        if logger.isEnabledFor(logging.DEBUG):
            x = x * 2
        return x

    def main():
        step(torch.ones(3))
    """
    (quiet,), (loud,) = project.calls(text), project.calls(text, logged=True)
    assert (quiet["log"], result(quiet)) == ([], [1, 1, 1])
    assert (loud["log"], result(loud)) == (["INFO 3 numbers"], [2, 2, 2])


RETURNS = """\
import torch

@torch.compiler.allow_in_graph
def started(x):
    torch.set_num_threads(1 + int(x.numel() > 99))
    def wait():
        return x
    return wait

def plain(x):
    return x
"""


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_a_function_is_stood_for_by_what_returns_its_result(project: Project, backend: str) -> None:
    driver = {"kind": "returned", "name": "started", "given": json.dumps([{"args": [tensor(3)], "kwargs": {}}])}
    ahead = {} if backend == "eager" else {"ahead": True}
    (call,) = project.arm(RETURNS, backend, driver={**driver, **ahead})["calls"]
    if backend == "eager":
        assert "result" in call
    else:
        assert any("non-Tensor" in link["message"] for link in call["error"]["links"])


def test_what_is_not_marked_returns_nothing_to_a_graph(project: Project) -> None:
    driver = {"kind": "returned", "name": "plain", "given": json.dumps([{"args": [tensor(3)], "kwargs": {}}])}
    assert "not marked" in project.arm(RETURNS, driver=driver)["failure"]


def test_every_warning_is_shown_each_time(project: Project) -> None:
    text = """\
    import warnings
    import torch

    @torch.compile
    def step(x):
        warnings.warn("slow")
        return x

    def main():
        for _ in range(3):
            step(torch.ones(3))
    """
    assert [bool(call["err"]) for call in project.calls(text)] == [True, False, False]
    assert all("slow" in call["err"] for call in project.calls(text, logged=True))


def tensor(*shape: int) -> dict[str, Any]:
    return {"kind": "tensor", "shape": list(shape), "dtype": "float32", "device": "cpu", "requires_grad": False}


def given(*calls: Any) -> dict[str, Any]:
    return {"kind": "calls", "name": "scaled", "given": json.dumps(calls)}


SCALED = """\
import torch
from torch._dynamo import nonstrict_trace

WIDTH = 4

@nonstrict_trace
def scaled(x, factor=2.0):
    return torch.ones_like(x) * factor

class Model(torch.nn.Module):
    def forward(self, x):
        return x + 1
"""


def test_calls_with_given_arguments(project: Project) -> None:
    project.write("makers.py", """\
        import torch
        def both(): return torch.ones(2), 5.0
        def named(): return {"x": torch.ones(1), "factor": 6.0}
        def single(): return torch.ones(1)
        """)  # fmt: skip
    makers = str(project.directory / "makers.py")
    driver = given(
        {"args": [tensor(2), {"kind": "literal", "value": 3.0}], "kwargs": {}},
        {"args": [], "kwargs": {"x": tensor(1)}},
        {"expression": "inputs(torch.ones(WIDTH), factor=4.0)"},
        {"maker": f"{makers}::both"},
        {"maker": f"{makers}::named"},
        {"maker": f"{makers}::single"},
    )
    calls = project.calls(SCALED, driver=driver, calls=9)
    assert [result(call) for call in calls] == [[3, 3], [2], [4] * 4, [5, 5], [6], [2]]
    assert {call["region"] for call in calls} == {"scaled"}


def test_given_values_are_the_same_in_every_arm(project: Project) -> None:
    driver = given({"args": [tensor(5)], "kwargs": {}}, {"args": [tensor(5)], "kwargs": {}})
    eager, compiled = (project.calls(SCALED, backend, driver=driver) for backend in ("eager", "aot_eager"))
    assert [call["inputs"] for call in eager] == [call["inputs"] for call in compiled]
    assert eager[0]["inputs"]["argument 1"] != eager[1]["inputs"]["argument 1"]


BRANCH = """\
import torch

def halved(x, *, scale=2.0):
    return x / scale if x.shape[0] > 2 else x * 0

def keyed(x, *, scale):
    return x * scale
"""


def test_what_make_fx_traces_is_traced_with_the_first_arguments(project: Project) -> None:
    made = json.dumps([{"expression": f"inputs(torch.ones({size}))"} for size in (3, 2)])
    driver = {"kind": "traced", "name": "halved", "given": made}
    eager, traced = (project.calls(BRANCH, backend, driver=driver) for backend in ("eager", "aot_eager"))
    assert [result(call) for call in eager] == [[0.5] * 3, [0, 0]]
    assert [result(call) for call in traced] == [[0.5] * 3, [0.5] * 2]
    assert [call["region"] for call in (*eager, *traced)] == ["halved"] * 4


def test_graphs_have_no_keywords(project: Project) -> None:
    made = json.dumps([{"expression": "inputs(torch.ones(2), scale=3.0)"}])
    trace = project.arm(BRANCH, driver={"kind": "traced", "name": "keyed", "given": made})
    assert trace["failure"] == "`keyed` has arguments that are only given by keyword"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"expression": "inputs(ABSENT)"}, "`inputs(ABSENT)` raised NameError: name 'ABSENT' is not defined"),
        ({"args": [{"kind": "unknown", "class": "Engine"}], "kwargs": {}}, "the arguments cannot be made: "),
        ({"maker": "makers.py::absent"}, "`makers.py::absent` raised FileNotFoundError"),
    ],
)
def test_arguments_that_cannot_be_made(project: Project, call: Any, told: str) -> None:
    trace = project.arm(SCALED, driver=given(call))
    assert trace["failure"].startswith(told)
    assert trace["calls"] == []


def test_a_function_that_cannot_be_reached(project: Project) -> None:
    driver = {"kind": "calls", "name": "Model.absent", "given": "[]"}
    assert project.arm(SCALED, driver=driver)["failure"] == "`Model.absent` cannot be reached from the top of its file"


def test_an_example_of_a_docstring(project: Project) -> None:
    source = "x = torch.ones(2)\nscaled(x)\nscaled(x, 3.0)\n"
    driver = {"kind": "source", "name": "scaled", "given": source}
    eager, compiled = (project.calls(SCALED, backend, driver=driver) for backend in ("eager", "aot_eager"))
    assert [result(call) for call in eager] == [result(call) for call in compiled] == [[2, 2], [3, 3]]


def test_a_function_that_is_a_region_is_not_wrapped_again(project: Project) -> None:
    driver = {"kind": "calls", "name": "step", "given": json.dumps([{"args": [tensor(2)], "kwargs": {}}])}
    (call,) = project.calls(LOOP, driver=driver)
    assert list(call["inputs"]) == ["x"]


def test_regions_that_are_not_followed_are_left_to_eager_code(project: Project) -> None:
    text = """
import torch

@torch.compile
def first(x):
    return x + 1

@torch.compile
def second(x):
    return first(x) * 2

def main():
    for n in range(3):
        second(first(torch.ones(2)) + n)
"""
    trace = project.arm(text, lines=True)
    lines = {region: set[int]() for region in ("first", "second")}
    for call, ran in zip(trace["calls"], trace["ran"], strict=True):
        lines[call["region"]] |= {line for own in ran.values() for line in own}
    assert {6, 10} <= lines["second"]
    assert 6 in lines["first"]
    assert 10 not in lines["first"]
    for backend in ("eager", "aot_eager"):
        followed = project.arm(text, backend=backend, follow=[["second", 8]], repeat=2)
        assert [call["region"] for call in followed["calls"]] == ["second"] * 4
        assert [result(call) for call in followed["calls"]] == [[6, 6], [6, 6], [8, 8], [10, 10]]
