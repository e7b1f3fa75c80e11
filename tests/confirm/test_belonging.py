"""Whose a call or an error is: told by the text of the file, and rather everybody's than nobody's."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import pytest

from nonstrict.confirm.belonging import foreign_calls, is_anothers, own_regions, without_failing
from nonstrict.confirm.drivers import Driver
from nonstrict.confirm.judging import judge
from nonstrict.confirm.programs import Program, Schedule, program_of
from nonstrict.findings import Status
from nonstrict.rules.expectation import Experiment
from tests.confirm.making import FILE, arms, call, error, failing, suspect, trace

TWO = """\
import torch
def mark(f):
    return f
@mark
def first(x):
    return x
@mark
def second(x):
    return x
"""
DRIVER = Driver("function", "main", frozenset(range(9)))


def program(text: str) -> Program:
    made = program_of(FILE, dedent(text), "/project", {})
    assert made is not None
    return made


def functions() -> list[Any]:
    one = suspect(function="first", marked_line=4, lines=frozenset({6}))
    return [one, suspect(number=1, function="second", marked_line=7, lines=frozenset({9}))]


def foreign(text: str, region: str = "step", line: int = 10) -> set[int]:
    made = trace(call(1.0, region=region, line=line))
    return set(foreign_calls(program(TWO + text), Schedule(DRIVER), functions(), made).get(0, ()))


def test_a_region_has_nothing_to_do_with_a_function_that_it_does_not_lead_to():
    assert foreign("def step(x):\n    return first(x)\n") == {1}
    assert foreign("def step(x):\n    return helped(x)\ndef helped(x):\n    return second(x)\n") == {0}
    assert foreign("def step(x):\n    return alias(x)\nalias = torch.jit.ignore(second)\n") == {0}
    assert foreign("def step(x):\n    return torch.ops.lib.first(x)\n") == {1}


@pytest.mark.parametrize(
    "text",
    [
        "def step(x, f):\n    return f(x)\n",
        "def step(x):\n    return TABLE[0](x)\nTABLE = [first]\n",
        "def step(x):\n    return getattr(object, 'first')(x)\n",
        "def step(x):\n    return [f(x) for f in TABLE]\nTABLE = []\n",
        "def step(net, x):\n    return net.act(x)\nclass Net:\n    def __init__(self, act):\n        self.act = act\n",
        "def step(x):\n    return chosen(x)\nchosen = TABLE.pop()\n",
        "from lib import *\ndef step(x):\n    return x\n",
    ],
)
def test_what_calls_something_unknown_may_call_anything(text: str):
    line = 10 + text.startswith("from")
    assert foreign(text, line=line) == set()


def test_regions_that_the_agent_makes_and_functions_of_other_names_are_not_looked_up():
    assert foreign("def step(x):\n    return x\n", region="other") == set()
    made = trace(call(1.0, region="step", line=10))
    text = program(TWO + "def step(x):\n    return x\n")
    direct = Schedule(DRIVER._replace(kind="calls"))
    assert foreign_calls(text, direct, functions(), made) == {}


def test_an_error_in_the_region_of_another_function_is_no_proof():
    refused = failing(error("AssertionError", "convert all Tensors to FakeTensors", 3), region="other")
    one = suspect("NST103", Experiment.REFUSAL)
    made = arms([call(1.0, region="other"), call(2.0)], [refused, call(2.0)])
    assert judge([one], made)[0].status is Status.CONFIRMED
    judgement = judge([one], made._replace(foreign={0: frozenset({0})}))[0]
    assert judgement.status is Status.REFUTED


MAIN = TWO + "def main(x=1):\n    first(x)\n    second(x)\n"


def test_the_error_of_one_function_says_nothing_of_the_next():
    raised = error("ValueError", "no", 11, 6)
    one, other = functions()
    assert not is_anothers(program(MAIN), DRIVER, one, raised)
    assert is_anothers(program(MAIN), DRIVER, other, raised)
    shorter = without_failing(program(MAIN), DRIVER, [other], raised)
    assert shorter is not None
    assert shorter.dropped == {(11, 4)}
    assert without_failing(program(MAIN), DRIVER, [one], raised) is None


def test_a_statement_that_others_need_is_not_left_out():
    text = MAIN.replace("    first(x)\n    second(x)", "    y = first(x)\n    second(y)")
    assert without_failing(program(text), DRIVER, functions()[1:], error("ValueError", "no", 11, 6)) is None


def test_the_regions_of_a_finding_are_those_that_execute_its_line():
    calls = [call(1.0, region=name, line=line) for name, line in (("first", 3), ("second", 9), ("first", 3))]
    ran = [{FILE: [3, 4]}, {FILE: [9, 10]}, {FILE: [3, 4, 5]}]
    control = {**trace(*calls, lines=[3, 4, 5, 9, 10]), "ran": ran}
    assert own_regions(control, frozenset({(FILE, 5)})) == (("first", 3),)
    assert own_regions(control, frozenset({(FILE, 4), (FILE, 10)})) == (("first", 3), ("second", 9))
    assert not own_regions(control, frozenset({(FILE, 6)}))
