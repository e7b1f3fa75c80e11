"""What the observer of a frame hears of a function, and what it may answer."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

import pytest

from nonstrict.facts.scopes import scope_of
from nonstrict.program import engine
from nonstrict.program.contracts.regions.observer import RegionObserver
from nonstrict.program.domain.access_paths import AccessPath, Root
from nonstrict.program.domain.effects import Summary
from nonstrict.program.domain.observer import NOBODY, Observer
from nonstrict.program.domain.values import NUMBER, Kind, Value
from nonstrict.program.interpret import bodies
from nonstrict.program.linking.project import Project
from nonstrict.program.state.frames import Frame

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from nonstrict.events import Step
    from nonstrict.program.domain.definitions import Function

_PROGRAM = """
import os
import torch

def helper(t):
    return t.sin()

def f(x, y, n):
"""


class Recorder(Observer["Frame", "Function"]):
    """Writes down what it hears, with the text of the node; answers conditions on names as it was told to."""

    def __init__(self, **known: bool) -> None:
        self.known = known
        self.heard: list[str] = []

    def called(
        self, frame: Frame, node: ast.AST, name: str, positional: Sequence[Value], keywords: dict[str, Value]
    ) -> None:
        self._hear("called", node)

    def method_called(
        self,
        frame: Frame,
        node: ast.AST,
        receiver: Value,
        name: str,
        positional: Sequence[Value],
        keywords: dict[str, Value],
    ) -> None:
        self._hear(f"method of a {receiver.kind.value} called", node)

    def function_called(self, frame: Frame, node: ast.AST, function: Function) -> None:
        self._hear(f"function {function.qualname} called", node)

    def truth(self, frame: Frame, test: ast.expr) -> bool | None:
        return self.known.get(test.id) if isinstance(test, ast.Name) else None

    def decided(self, frame: Frame, node: ast.AST, value: Value) -> None:
        self._hear("decided", node)

    def raised(self, frame: Frame, statement: ast.Raise) -> None:
        self._hear("raised", statement)

    def operated(self, frame: Frame, node: ast.BinOp | ast.UnaryOp, *operands: Value) -> Value | None:
        self._hear("operated", node)
        return None

    def selected(self, frame: Frame, node: ast.Subscript, base: Value, index: Value) -> Value:
        self._hear("selected", node)
        return index

    def indexed(self, frame: Frame, node: ast.Subscript, index: Value) -> None:
        self._hear("indexed", node)

    def part_stored(self, frame: Frame, node: ast.AST, index: Value) -> None:
        self._hear("part stored", node)

    def attribute_stored(self, frame: Frame, node: ast.AST, tensor: Value, name: str) -> None:
        self._hear("attribute stored", node)

    def entered(self, frame: Frame, node: ast.AST, manager: Value) -> None:
        self._hear("entered", node)

    def looped_over(self, frame: Frame, node: ast.AST, iterable: Value) -> None:
        self._hear("looped over", node)

    def came_to(self, frame: Frame, node: ast.AST, step: Step) -> None:
        self._hear(step.value, node)

    def _hear(self, what: str, node: ast.AST) -> None:
        self.heard.append(f"{what}: {ast.unparse(node).splitlines()[0]}")


def interpreted(folder: Path, body: str, observer: Observer[Frame, Function]) -> Frame:
    """A function `f(x, y, n)` of two tensors and a number, interpreted."""
    path = folder / "program.py"
    path.write_text(_PROGRAM + textwrap.indent(body, "    "))
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    function = machine.global_value(module, "f").function
    assert function is not None
    frame = Frame(
        machine,
        module,
        function.offset,
        Summary("f"),
        function=function,
        scope=scope_of(function.node),
        observer=observer,
    )
    frame.env |= {name: Value(Kind.TENSOR, AccessPath(Root.ARGUMENT, "", name)) for name in "xy"} | {"n": NUMBER}
    bodies.run(machine, frame)
    return frame


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("return torch.relu(x.cos())", ["method of a tensor called: x.cos()", "called: torch.relu(x.cos())"]),
        # What a function of the program does is heard as well.
        ("return helper(x)", ["function helper called: helper(x)", "method of a tensor called: t.sin()"]),
        ("if n:\n    raise ValueError\nreturn x", ["decided: n", "raised: raise ValueError"]),
        ("return 1 < x < 2", ["chained-comparison: 1 < x < 2"]),
        ("return -n + x", ["operated: -n", "operated: -n + x"]),
        ("pair = [x, y]\nreturn pair[n][0]", ["selected: pair[n]", "indexed: pair[n][0]"]),
        ("x[n] = y\ny.grad = None", ["part stored: x[n]", "attribute stored: y.grad"]),
        ("os.environ['A'] = '1'", ["environment-write: os.environ['A']"]),
        ("for t in [x, y]:\n    pass", ["looped over: [x, y]"]),
        ("with torch.no_grad():\n    return x", ["called: torch.no_grad()", "entered: torch.no_grad()"]),
    ],
)
def test_what_is_heard(tmp_path: Path, body: str, heard: list[str]):
    recorder = Recorder()
    interpreted(tmp_path, body, recorder)
    assert recorder.heard == heard


def test_an_answer_decides_which_way_is_gone(tmp_path: Path):
    recorder = Recorder(n=False)
    interpreted(tmp_path, "if n:\n    return x.sin()\nreturn x.cos()", recorder)
    assert recorder.heard == ["method of a tensor called: x.cos()"]


def test_a_recorder_makes_no_region(tmp_path: Path):
    assert not interpreted(tmp_path, "return x", Recorder()).region
    assert interpreted(tmp_path, "return x", RegionObserver()).region
    assert interpreted(tmp_path, "return x", NOBODY).observer is NOBODY


def test_regions_hear_and_answer_everything():
    told = {name for name in vars(Observer) if not name.startswith("_")}
    assert told == {name for name in vars(RegionObserver) if not name.startswith("_")}
