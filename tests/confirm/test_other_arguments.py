"""Calls in which only the argument that a finding is about differs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from nonstrict.confirm.other_arguments import differing_calls
from nonstrict.confirm.programs import Program, program_of
from nonstrict.findings import Subject
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, suspect

TEXT = "def step(x, flag, count=2, *, mode=None):\n    return x * count if flag else x\n"
X = {"kind": "tensor", "shape": [4], "dtype": "float32"}


def literal(value: object) -> dict[str, Any]:
    return {"kind": "literal", "value": value}


def calls(name: str, given: dict[str, Any], path: tuple[str, ...] = ()) -> list[Any]:
    program = program_of(FILE, TEXT, "/project", {})
    assert isinstance(program, Program)
    about = suspect("NST804", Experiment.RECOMPILED, function="step", subject=Subject("argument", name, path))
    made = differing_calls(program, about, json.dumps([given, {"args": [X, literal(True)], "kwargs": {}}]), 4)
    return json.loads(made) if made else []


def test_a_flag_has_two_values() -> None:
    made = calls("flag", {"args": [X, literal(False), literal(3)], "kwargs": {}})
    assert [call["args"] for call in made] == [[X, literal(value), literal(3)] for value in (False, True)]


def test_a_number_has_as_many_as_are_wanted() -> None:
    made = calls("count", {"args": [X, literal(True)], "kwargs": {"count": literal(3)}})
    assert [call["kwargs"]["count"]["value"] for call in made] == [3, 4, 5, 6]
    assert all(call["args"] == [X, literal(True)] for call in made)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("x", {"args": [X, literal(True)], "kwargs": {}}),  # of tensors no other is known
        ("count", {"args": [X, literal(True)], "kwargs": {}}),  # is not given
        ("mode", {"args": [X, literal(True)], "kwargs": {"mode": literal("a")}}),
        ("flag", {"expression": "inputs(x, True)"}),
    ],
)
def test_of_others_no_calls_are_made(name: str, given: dict[str, Any]) -> None:
    assert calls(name, given) == []


def test_a_part_of_an_argument_is_another_subject() -> None:
    assert calls("flag", {"args": [X, literal(False)], "kwargs": {}}, (".value",)) == []
