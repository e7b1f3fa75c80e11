"""What the values of names in a program refer to: one question for each kind."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.domain.values import Kind, Value
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from nonstrict.program.domain.definitions import Function

_PROGRAM = """
import enum
import functools
import math
import random
import torch
from torch import nn
from torch._dynamo import nonstrict_trace

class Scale(nn.Module):
    def forward(self, x):
        return x * 2

class Plain:
    def times(self, x):
        return x * 2

class Way(enum.Enum):
    LEFT = 1

def double(x):
    return x * 2

@nonstrict_trace
def marked(x):
    return x.sin()

scale = Scale()
plain = Plain()
way = Way.LEFT
layer = nn.Linear(2, 2)
sine = torch.sin
drawn = random.Random()
twice = functools.partial(double, 2, y=3)
times = plain.times
sum_of = torch.ones(3).sum
either = 1 if drawn else "one"
number = 1
"""


def _name(function: Function | Value) -> str:
    found = function.function if isinstance(function, Value) else function
    return found.name if found is not None else ""


def _mark(value: Value) -> str:
    return f"{value.mark.kind} of {_name(value.mark.target)}" if value.mark else ""


def _bound(value: Value) -> str:
    return f"{_name(value.bound.function)} of {value.bound.receiver.kind.value}" if value.bound else ""


def _partial(value: Value) -> str:
    if value.partial is None:
        return ""
    function, positional, keywords = value.partial
    return f"{_name(function)} with {[one.const for one in positional]} and {[name for name, _ in keywords]}"


def _external_method(value: Value) -> str:
    return (
        f"{value.external_method.name} of {value.external_method.receiver.kind.value}" if value.external_method else ""
    )


#: Every question that a reference answers, as text: "" where it has nothing to say.
_QUESTIONS: dict[str, Callable[[Value], str]] = {
    "of_class": lambda value: value.of_class.name if value.of_class else "",
    "function": lambda value: value.function.name if value.function else "",
    "dotted": lambda value: value.dotted,
    "mark": _mark,
    "bound": _bound,
    "partial": _partial,
    "external_method": _external_method,
}


@pytest.fixture(scope="module")
def value_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Value]:
    """The value of a top-level name of the program."""
    path: Path = tmp_path_factory.mktemp("references") / "program.py"
    path.write_text(_PROGRAM)
    project = Project()
    machine = engine.machine(project, [str(path)])
    module = project.module(str(path))
    assert module is not None
    return partial(machine.global_value, module)


@pytest.mark.parametrize(
    ("name", "kind", "question", "answer"),
    [
        ("Scale", Kind.CLASS, "of_class", "Scale"),
        ("scale", Kind.MODULE, "of_class", "Scale"),
        ("plain", Kind.OBJECT, "of_class", "Plain"),
        ("way", Kind.SETTING, "of_class", "Way"),
        ("double", Kind.FUNCTION, "function", "double"),
        ("marked", Kind.MARKED, "mark", "nonstrict of marked"),
        ("times", Kind.BOUND, "bound", "times of object"),
        ("twice", Kind.PARTIAL, "partial", "double with [2] and ['y']"),
        ("sum_of", Kind.EXTERNAL_METHOD, "external_method", "sum of tensor"),
        ("layer", Kind.MODULE, "dotted", "torch.nn.Linear"),
        ("sine", Kind.EXTERNAL, "dotted", "torch.sin"),
        ("math", Kind.PYTHON_MODULE, "dotted", "math"),
        ("drawn", Kind.INSTANCE, "dotted", "random.Random"),
        ("number", Kind.NUMBER, "", ""),
    ],
)
def test_a_value_answers_one_question(
    value_of: Callable[[str], Value], name: str, kind: Kind, question: str, answer: str
):
    value = value_of(name)
    assert value.kind is kind
    assert {asked: found for asked, ask in _QUESTIONS.items() if (found := ask(value))} == (
        {question: answer} if question else {}
    )


def test_a_union_has_alternatives_and_everything_else_is_its_only_one(value_of: Callable[[str], Value]):
    assert [value.kind for value in value_of("either").alternatives()] == [Kind.NUMBER, Kind.STRING]
    assert value_of("number").alternatives() == (value_of("number"),)
