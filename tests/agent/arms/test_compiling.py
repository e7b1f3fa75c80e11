"""What arms tell of compilations: graphs, breaks on the user's lines, and what torch leaves to plain Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import Project

if TYPE_CHECKING:
    from tests.warm.process import Warm

pytestmark = pytest.mark.torch

PROGRAM = """\
import contextlib
import json
import torch


@contextlib.contextmanager
def section():
    yield


def report(x):
    print("reports")
    return x


@torch.compile
def looping(x):
    for _ in range(2):
        x = x * 2
        print("round")
    return x


@torch.compile
def helped(x):
    return report(x + 1) * x.sum().item()


@torch.compile
def guarded(x):
    try:
        x = x * 2
        print("guarded")
    except ValueError:
        pass
    return x


@torch.compile
def partly(x):
    y = x * 2
    z = y + 1
    with section():
        z = z * y
        print("inside")
    return z * 3


@torch.compile(fullgraph=True)
def whole(x):
    return x * x.sum().item()


@torch.compile
def refused(x):
    with torch._dynamo.error_on_graph_break(True):
        print("refused")
    return x


@torch.compile
def lengths(x, text):
    return x * len(text)


@torch.compile
def through_library(x):
    return x * len(json.dumps({"a": 1}))


@torch.compile
def without(number):
    return number + 1


def made():
    @torch.compile
    def inner(x):
        y = x * 2
        with section():
            y = y + 1
            print("inner")
        return y

    return inner


class Net(torch.nn.Module):
    def forward(self, x):
        print("forward")
        return x * 2


@torch._dynamo.nonstrict_trace
def marked(x):
    y = x + 1
    return y if y.sum() > 0 else x


@torch.compile
def calling(x):
    return marked(x) * 2


def main():
    x = torch.ones(2)
    looping(x)
    helped(x)
    guarded(x)
    partly(x)
    whole(x)
    through_library(x)
    without(3)


def modules_called():
    torch.compile(Net())(torch.ones(2))


def modules_compiled():
    net = Net()
    net.compile()
    net(torch.ones(2))


def nests():
    made()(torch.ones(2))


def marks():
    calling(torch.ones(2))


def recovers():
    try:
        raise ValueError
    except ValueError:
        helped(torch.ones(2))


def limit():
    for n in range(10):
        lengths(torch.ones(2), "a" * n)


def fails():
    refused(torch.ones(2))
"""
ITEM = "Unsupported Tensor.item() call with capture_scalar_outputs=False"
BUILTIN = "Failed to trace builtin operator"


def at(text: str) -> int:
    """The line of the program that contains a text."""
    return next(number for number, line in enumerate(PROGRAM.split("\n"), 1) if text in line)


def places(compiled: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["type"], one["lines"][-1][1]) for one in compiled["breaks"]]


def left(compiled: dict[str, Any]) -> list[tuple[str, bool, int, str]]:
    return [(one["function"], one["rest"], one["at"], one["id"]) for one in compiled["eager"]]


@pytest.fixture(scope="module")
def told(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    calls = Project(warm, tmp_path_factory.mktemp("project")).calls(PROGRAM, "aot_eager", calls=20)
    return {call["function"]: call["compiled"] for call in calls}


def test_a_break_in_a_loop_leaves_the_function_to_python(told: dict[str, dict[str, Any]]) -> None:
    looping = told["looping"]
    assert places(looping) == [(BUILTIN, at('print("round")'))]
    assert looping["graphs"] == []
    assert left(looping) == [("looping", False, at('print("round")'), "GB7000")]


def test_breaks_of_helpers_have_the_lines_that_lead_there(told: dict[str, dict[str, Any]]) -> None:
    helped = told["helped"]
    assert places(helped) == [(BUILTIN, at('print("reports")')), (ITEM, at("return report("))]
    assert [[line for _, line, *_ in one["lines"]] for one in helped["breaks"]] == [
        [at("return report("), at('print("reports")')],
        [at("return report(")],
    ]
    assert [one["id"] for one in helped["breaks"]] == ["GB0059", "GB0124"]
    assert len(helped["graphs"]) >= 2
    assert left(helped) == []


def test_a_break_stands_at_its_expression(told: dict[str, dict[str, Any]]) -> None:
    assert told["helped"]["breaks"][0]["lines"][-1][2:] == [4, at('print("round")')]


def test_after_a_break_in_a_try_nothing_is_resumed(told: dict[str, dict[str, Any]]) -> None:
    assert left(told["guarded"]) == [("guarded", False, at('print("guarded")'), "GB0059")]


def test_what_comes_after_a_break_may_be_left_to_python_alone(told: dict[str, dict[str, Any]]) -> None:
    assert len(told["partly"]["graphs"]) == 1
    assert left(told["partly"])[0] == ("partly", True, at('print("inside")'), "GB0066")


def test_breaks_of_marked_functions_stand_in_them(project: Project) -> None:
    (call,) = project.calls(PROGRAM, "aot_eager", driver="marks")
    assert [line for _, line, *_ in call["compiled"]["breaks"][0]["lines"]] == [
        at("return marked("),
        at("y if y.sum()"),
    ]


def test_what_the_program_handles_has_nothing_to_do_with_breaks(project: Project) -> None:
    (call,) = project.calls(PROGRAM, "aot_eager", driver="recovers")
    assert places(call["compiled"]) == [(BUILTIN, at('print("reports")')), (ITEM, at("return report("))]


def test_functions_have_their_qualified_names(project: Project) -> None:
    (call,) = project.calls(PROGRAM, "aot_eager", driver="nests")
    assert call["function"] == "made.<locals>.inner"
    assert left(call["compiled"])[0][:2] == ("made.<locals>.inner", False)


def test_whole_graphs_have_no_breaks(told: dict[str, dict[str, Any]]) -> None:
    assert told["whole"] == {"graphs": [3], "breaks": [], "eager": [], "skipped": "", "again": []}


def test_breaks_in_libraries_stand_where_the_user_calls_them(told: dict[str, dict[str, Any]]) -> None:
    assert {line for _, line in places(told["through_library"])} == {at("json.dumps(")}


def test_what_torch_does_not_look_at_is_told_with_its_reason(told: dict[str, dict[str, Any]]) -> None:
    assert "No ops traced" in told["without"]["skipped"]
    assert told["without"]["graphs"] == []


@pytest.mark.parametrize("driver", ["modules_called", "modules_compiled"])
def test_modules_are_named_by_their_class_however_they_are_compiled(project: Project, driver: str) -> None:
    (call,) = project.calls(PROGRAM, "aot_eager", driver=driver)
    assert (call["region"], call["function"], call["line"]) == ("Net", "Net.forward", at("def forward"))
    assert places(call["compiled"]) == [(BUILTIN, at('print("forward")'))]


def test_at_the_limit_of_recompilations_python_goes_on(project: Project) -> None:
    calls = project.calls(PROGRAM, "aot_eager", driver="limit", calls=12)
    assert [len(call["compiled"]["graphs"]) for call in calls] == [1] * 8 + [0, 0]
    assert [one["type"] for one in calls[8]["compiled"]["eager"]] == ["Dynamo recompile limit exceeded"]
    assert calls[9]["compiled"]["eager"] == []


def test_a_break_that_is_an_error_is_told(project: Project) -> None:
    (call,) = project.arm(PROGRAM, "aot_eager", driver="fails")["calls"]
    assert [(one["type"], one["raises"]) for one in call["compiled"]["breaks"]] == [(BUILTIN, True)]


def test_eager_code_compiles_nothing(project: Project) -> None:
    assert all("compiled" not in call for call in project.calls(PROGRAM, "eager"))
