"""What an arm has to see, and what it has to overlook, so that two runs can be held against each other."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

from tests.agent.arms.running import HEAD

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tests.agent.arms.running import Project

pytestmark = pytest.mark.torch

TWO_CALLS = """

@torch.compile(fullgraph=True)
def step(x):
    return body(x)


def main():
    global VALUE
    x = torch.ones(3)
    step(x)
    VALUE = {after}
    step(x)
"""


def program(setup: str, line: str, after: str = "VALUE") -> str:
    """A program whose region calls a marked function twice, with a change of `VALUE` between the calls."""
    return f"{HEAD}{setup}\n\n@nonstrict_trace\ndef body(x):\n    {line}\n{TWO_CALLS.format(after=after)}"


def moved(call: Mapping[str, Any]) -> list[str]:
    """The state that changed before a call, without random numbers."""
    return [path for path in call["between"] if "random state" not in path]


def test_addresses_of_printed_objects_are_no_difference(project: Project) -> None:
    text = program("class Config:\n    pass\n\nVALUE = Config()", "print('with', VALUE); return x")
    first, second = project.calls(text)
    again, _ = project.calls(text)
    assert first["out"] == second["out"] == again["out"]
    assert first["out"].startswith("with <model.Config object")


def test_logging_changes_no_state(project: Project) -> None:
    text = program("import logging\nVALUE = 1\nlog = logging.getLogger('train')", "log.debug('x'); return x * VALUE")
    first, _ = project.calls(text)
    assert first["state"] == {}


@pytest.mark.parametrize("pair", ["torch.float32 torch.float64", "torch.device('cpu') torch.device('meta')"])
def test_a_dtype_or_device_that_changes(project: Project, pair: str) -> None:
    before, after = pair.split(" ")
    _, second = project.calls(program(f"VALUE = {before}", "return x * 2 if VALUE else x", after))
    assert moved(second) == ["VALUE"]


def test_a_gradient_that_is_written(project: Project) -> None:
    first, second = project.calls(program("VALUE = 1", "x.grad = torch.ones_like(x); return x * 2"))
    assert first["inputs"] != first["arguments"]
    assert second["inputs"] == second["arguments"]


def test_variables_of_a_local_factory(project: Project) -> None:
    calls = project.calls(
        HEAD
        + dedent("""\
        def make(scale):
            def set_scale(value):
                nonlocal scale
                scale = value

            @nonstrict_trace
            def body(x):
                return x * scale

            @torch.compile(fullgraph=True)
            def step(x):
                return body(x)

            return step, set_scale


        def main():
            step, set_scale = make(2.0)
            step(torch.ones(3))
            set_scale(3.0)
            step(torch.ones(3))
        """)
    )
    assert [path.rpartition(".")[2] for path in moved(calls[1])] == ["scale"]


def test_lines_that_another_thread_executes(project: Project) -> None:
    text = HEAD + (
        "import threading\n\n\n@torch.compile\ndef step(x):\n    return x + 1\n\n\n"
        "def main():\n    thread = threading.Thread(target=step, args=(torch.ones(2),))\n"
        "    thread.start()\n    thread.join()\n"
    )
    trace = project.arm(text, lines=True)
    (lines,) = trace["lines"].values()
    assert text.split("\n").index("    return x + 1") + 1 in lines


def test_a_graph_that_the_program_has_freed_says_nothing_of_gradients(project: Project) -> None:
    text = HEAD + (
        "W = torch.nn.Parameter(torch.full((3,), 2.0))\n\n\n@torch.compile\ndef step(x):\n    return x * W\n\n\n"
        "def main():\n    x = torch.ones(3, requires_grad=True)\n    step(x).sum().backward()\n"
    )
    trace = project.arm(text, gradients=True)
    assert "error" not in (trace["gradients"] or {})
