"""Where arguments come from: a directive in the file, records, a search."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.drivers import Driver, Source
from nonstrict.confirm.input_sources import callable_name, directive, found_drivers, given_drivers, home_of, search_job
from nonstrict.confirm.programs import Program, program_of
from tests.confirm.making import suspect

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """\
import torch
WIDTH = 3
OTHER = 4

# nonstrict: inputs(torch.ones(WIDTH), scale=2)
@torch._dynamo.nonstrict_trace
def scaled(x, scale):
    return x * scale
"""


def program(tmp_path: Path, text: str = SOURCE) -> Program:
    made = program_of(str(tmp_path / "model.py"), text, str(tmp_path), {})
    assert made is not None
    return made


@pytest.mark.parametrize(
    ("comment", "expression"),
    [
        ("# nonstrict: inputs(x=torch.randn(2, 3))", "inputs(x=torch.randn(2, 3))"),
        ("#nonstrict:inputs(1)", "inputs(1)"),
        ("#  nonstrict:  inputs((1, (2)))  ", "inputs((1, (2)))"),
        ("x = 1  # nonstrict: inputs(x)", "inputs(x)"),
        ("# nonstrict: ignore[NST101]", ""),
        ("# inputs(1)", ""),
        ("# nonstrict: inputs 1", ""),
    ],
)
def test_directives(comment: str, expression: str):
    assert directive(f"import torch\n{comment}\ndef f(x):\n    pass\n", 3) == expression


def test_the_nearest_directive_counts():
    text = "# nonstrict: inputs(1)\ndef f(x):\n    pass\n\n# nonstrict: inputs(2)\ndef g(x):\n    pass\n"
    assert directive(text, 2) == "inputs(1)"
    assert directive(text, 6) == "inputs(2)"


def test_a_directive_far_away_belongs_to_another_function():
    text = "# nonstrict: inputs(1)\n" + "\n" * 20 + "def f(x):\n    pass\n"
    assert directive(text, 22) == ""


def test_a_directive_makes_a_driver_that_knows_the_names_in_it(tmp_path: Path):
    one = suspect(file=str(tmp_path / "model.py"), marked_line=6)
    (driver,) = given_drivers(program(tmp_path), one)
    assert (driver.kind, driver.name) == ("calls", "scaled")
    assert json.loads(driver.given) == [{"expression": "inputs(torch.ones(WIDTH), scale=2)"}]
    assert driver.kept == {0, 1, 3}


def test_without_a_directive_nothing_is_given(tmp_path: Path):
    bare = program(tmp_path, SOURCE.replace("nonstrict: inputs", "inputs"))
    assert list(given_drivers(bare, suspect(marked_line=6))) == []


@pytest.mark.parametrize("function", ["", "make.<locals>.inner", "<lambda>"])
def test_functions_that_cannot_be_named_from_outside(function: str, tmp_path: Path):
    one = suspect(function=function, marked_line=6)
    assert callable_name(one) == ""
    assert list(given_drivers(program(tmp_path), one)) == []
    assert search_job(program(tmp_path), one, "cpu") is None


def test_the_job_of_a_search(tmp_path: Path):
    path = str(tmp_path / "model.py")
    one = suspect(path=path, file=path, marked_line=6)
    job = search_job(program(tmp_path), one, "cpu")
    assert job is not None
    assert (job["kind"], job["name"], job["kept"], job["device"]) == ("inputs", "scaled", [0, 3], "cpu")
    assert job["wanted"] == {path: [8]}
    assert json.loads(json.dumps(job)) == job


def test_what_a_search_found(tmp_path: Path):
    one = suspect(marked_line=6)
    answer = {"examples": ["scaled(1, 2)", "b", "c"], "calls": [{"args": [], "kwargs": {}}]}
    drivers = list(found_drivers(program(tmp_path), one, answer))
    kept = frozenset({0, 3})
    assert drivers == [
        Driver("source", "scaled", kept, given="scaled(1, 2)", source=Source.DOCSTRING),
        Driver("source", "scaled", kept, given="b", source=Source.DOCSTRING),
        Driver("calls", "scaled", kept, given='[{"args": [], "kwargs": {}}]', source=Source.SEARCH),
    ]
    assert list(found_drivers(program(tmp_path), one, {"calls": [], "failure": "nothing"})) == []


def test_the_file_at_whose_top_a_function_stands(tmp_path: Path):
    """A region may be made in one file of a function of another."""
    other = tmp_path / "model.py"
    other.write_text("def scaled(x):\n    return x\n", encoding="utf-8")
    marking = program_of(str(tmp_path / "train.py"), "import model\nstep = mark(model.scaled)\n", str(tmp_path), {})
    assert marking is not None
    one = suspect(path=str(other), lines=frozenset({2}), function="scaled")
    home = home_of(marking, one)
    assert (home.path, home.overlays) == (str(other), {marking.path: marking.text})
    assert home_of(home, one) is home
    assert home_of(marking, one._replace(function="unknown")) is marking
    assert home_of(marking, one._replace(path=str(tmp_path / "gone.py"))) is marking
