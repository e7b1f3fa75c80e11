"""`nonstrict audit`, as a whole process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

MODEL = '''\
import os

import torch
from torch import nn

SCALE = torch.ones(3)
rate = 1.0


def tune(value):
    global rate
    rate = value


def pure(x, y):
    """Nothing but tensors."""
    return torch.relu(x) @ y.transpose(0, 1)


def log(x):
    print(x.shape)
    return x


def everything(x):
    log(x)
    if x.sum() > 0:
        x = x * SCALE
    return x * rate


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(3, 3)
        self.seen = 0

    def scored(self, x):
        return self.project(x)

    def count(self, x):
        self.seen += 1
        return x

    @staticmethod
    def halve(x: torch.Tensor):
        return x / 2

    class Inner:
        def plain(self, x: torch.Tensor):
            return x + 1


def outer(weight: torch.Tensor):
    def inner(x):
        return x * weight

    class Local:
        def method(self, x):
            return print(x)

    return inner


def applied(function, x):
    return function(x) + 1


def quiet(x):
    print(x.shape)  # nonstrict: ignore[NST201]  wanted
    return x


if os.name == "nt":

    def separator(x):
        return x

else:

    def separator(x):
        return x + 1
'''


def line(text: str) -> int:
    """The line of the model on which a text stands first."""
    return MODEL[: MODEL.index(text)].count("\n") + 1


INNER, CALL, FIRST, SECOND = (
    line(text)
    for text in ("return x * weight", "return function(x)", "def separator", "def separator(x):\n        return x +")
)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("function", ["pure", "Head.scored", "Head.halve"])
def test_pure_functions(nonstrict: Command, model: Path, function: str):
    run = nonstrict("audit", f"model.py::{function}")
    assert (run.status, run.err) == (0, "")
    assert f"`{function}` (model.py:" in run.out
    assert "pure: safe to mark with `nonstrict_trace`" in run.out


def test_the_forward_of_a_module_is_not_to_be_marked(nonstrict: Command, tmp_path: Path):
    text = "from torch import nn\n\n\nclass Double(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
    (tmp_path / "double.py").write_text(text, encoding="utf-8")
    run = nonstrict("audit", "double.py::Double.forward")
    assert (run.status, run.err) == (1, "")
    message = "`nonstrict_trace` marks `Double.forward`, which a call of the module runs"
    assert f"warning[NST602] conflicting-decorators: {message}" in run.out


def test_obstacles_stand_under_headings_with_frames_and_chains(nonstrict: Command, model: Path):
    run = nonstrict("audit", "model.py::everything")
    assert run.status == 1
    lines = run.out.splitlines()
    headings = [line for line in lines if line in ("captures", "effects", "determinism", "pointers and escapes")]
    assert headings == ["captures", "effects", "pointers and escapes"]
    assert "error[NST101] global-tensor-capture:" in run.out
    assert "warning[NST104] mutable-state-capture:" in run.out
    assert "model.py:12:5: rebound here" in run.out
    assert "  = note: model.py:26:5: `everything` calls `log` here" in run.out
    assert "21 |     print(x.shape)" in run.out
    assert "is marked" not in run.out
    assert lines[-1] == "`everything` (model.py:25:5): 4 obstacles to marking it with `nonstrict_trace`."


@pytest.mark.parametrize(
    ("target", "name", "status"),
    [
        ("model.py::Head.count", "Head.count", 1),
        ("model.py::outer.inner", "outer.<locals>.inner", 1),
        ("model.py::outer.<locals>.inner", "outer.<locals>.inner", 1),
        ("model.py::outer.Local.method", "outer.<locals>.Local.method", 1),
        ("model.py:21", "log", 1),
        ("model.py:16", "pure", 0),
        (f"model.py:{INNER}", "outer.<locals>.inner", 1),
        (f"model.py:{FIRST}", "separator", 0),
    ],
)
def test_ways_to_name_a_function(nonstrict: Command, model: Path, target: str, name: str, status: int):
    run = nonstrict("audit", "--output-format", "json", target)
    answer = json.loads(run.out)
    assert answer["function"] == name
    assert (run.status, answer["verdict"]) == (status, "obstacles" if status else "pure")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("model.py::purr", "no function `purr`. Near names: `pure`."),
        ("model.py::scored", "Near names: `Head.scored`."),
        ("model.py::SCALE", "`SCALE` is bound to a value in model.py, not defined with `def`."),
        ("model.py::nn", "`nn` is imported in model.py"),
        (
            "model.py::separator",
            f"defines `separator` 2 times. Name one by its line: model.py:{FIRST}, model.py:{SECOND}.",
        ),
        ("model.py:1", "lies in no function. The nearest functions: `tune` (10)"),
        ("gone.py::f", "gone.py does not exist."),
        (".::f", ". is a directory."),
        ("model.py", "Write FILE::FUNCTION"),
        ("model.py::", "Write FILE::FUNCTION"),
        ("broken.py::f", "broken.py:2:"),
        ("binary.py::f", "binary.py: "),
    ],
)
def test_questions_that_cannot_be_answered(nonstrict: Command, model: Path, target: str, message: str):
    (model / "broken.py").write_text("def f(x):\n    return (\n", encoding="utf-8")
    (model / "binary.py").write_bytes(b"\x00\xff\x00")
    run = nonstrict("audit", target)
    assert run.status == 2
    assert run.out == ""
    assert message in run.err


def test_what_was_not_looked_into_is_listed(nonstrict: Command, model: Path):
    run = nonstrict("audit", "model.py::applied")
    assert run.status == 0
    assert f"not analyzed\n  model.py:{CALL}:12: `function()`: it is not known what this calls\n" in run.out
    assert run.out.endswith("no obstacle found to marking it with `nonstrict_trace`, but 1 place was not analyzed.\n")
    assert nonstrict("audit", "--strict", "model.py::applied").status == 1
    assert nonstrict("audit", "--strict", "model.py::pure").status == 0


def test_json(nonstrict: Command, model: Path):
    run = nonstrict("audit", "--output-format", "json", "model.py::log")
    answer = json.loads(run.out)
    assert answer["filename"] == str(model / "model.py")
    assert answer["location"] == {"row": 20, "column": 5}
    assert (answer["function"], answer["marker"], answer["verdict"]) == ("log", "nonstrict_trace", "obstacles")
    (finding,) = answer["findings"]
    assert (finding["family"], finding["code"], finding["location"]["row"]) == ("effects", "NST201", 21)
    assert answer["not_looked_into"] == []
    unknown = json.loads(nonstrict("audit", "--output-format", "json", "model.py::applied").out)
    assert unknown["verdict"] == "unknown"
    assert [place["location"] for place in unknown["not_looked_into"]] == [{"row": CALL, "column": 12}]


def test_other_formats_hold_the_findings(nonstrict: Command, model: Path):
    concise = nonstrict("audit", "--output-format", "concise", "model.py::log").out
    assert concise.startswith("model.py:21:5: warning[NST201]")
    sarif = json.loads(nonstrict("audit", "--output-format", "sarif", "model.py::log").out)
    assert [result["ruleId"] for result in sarif["runs"][0]["results"]] == ["NST201"]


def test_markers_have_contracts_of_their_own(nonstrict: Command, model: Path):
    (model / "draw.py").write_text("import random\n\n\ndef draw():\n    return random.random()\n", encoding="utf-8")
    for marker in ("nonstrict_trace", "allow_in_graph", "assume_constant_result", "make_fx"):
        run = nonstrict("audit", "--marker", marker, "draw.py::draw")
        assert run.status == 1
        assert "NST301" in run.out
        assert f"to marking it with `{marker}`" in run.out
    every_backend = "torch.compile fails with every backend"
    assert every_backend in nonstrict("audit", "--marker", "allow_in_graph", "model.py::everything").out
    assert nonstrict("audit", "--marker", "leaf_function", "model.py::pure").status == 2


def test_settings_and_suppressions_count(nonstrict: Command, model: Path):
    run = nonstrict("audit", "model.py::quiet")
    assert run.status == 0
    assert "1 finding left out: suppressed in the code, or not selected in the settings." in run.out
    assert nonstrict("audit", "--config", "ignore = ['NST2']", "model.py::log").status == 0
    assert nonstrict("audit", "--config", "severity = { NST201 = 'note' }", "model.py::log").status == 0


def test_callers_and_writers_in_other_files_count(nonstrict: Command, model: Path):
    (model / "use.py").write_text(
        "import gain\nimport settings\nimport torch\n\n\n@torch.compile(fullgraph=True)\ndef forward():\n"
        "    return gain.amplify([torch.ones(3)])\n\n\ndef start():\n    settings.factor = 2.0\n",
        encoding="utf-8",
    )
    (model / "settings.py").write_text("factor = 1.0\n", encoding="utf-8")
    (model / "gain.py").write_text(
        "import settings\n\n\ndef amplify(parts):\n    return parts.pop() * settings.factor\n", encoding="utf-8"
    )
    run = nonstrict("audit", "gain.py::amplify")
    assert "use.py:12:5: rebound here" in run.out
    assert "error[NST202] input-mutation" in run.out
    alone = nonstrict("audit", "gain.py::amplify", "gain.py")
    assert "rebound here" not in alone.out


def test_files_outside_the_working_directory(nonstrict: Command, model: Path):
    (model / "below").mkdir()
    run = nonstrict("audit", str(model / "model.py") + "::pure")
    assert "`pure` (model.py:15:5)" in run.out
    package = model.parent / "package"
    package.mkdir()
    (package / "__init__.py").write_text("", encoding="utf-8")
    (package / "helpers.py").write_text("def shout(x):\n    print(x)\n    return x\n", encoding="utf-8")
    (package / "main.py").write_text(
        "from .helpers import shout\n\n\ndef run(x):\n    return shout(x)\n", encoding="utf-8"
    )
    run = nonstrict("audit", f"{package / 'main.py'}::run")
    assert run.status == 1
    assert "NST201" in run.out


def test_a_function_that_is_marked_already(nonstrict: Command, project: Path):
    run = nonstrict("audit", "bad.py::scaled")
    assert run.status == 1
    assert "error[NST101]" in run.out
    assert nonstrict("audit", "clean.py::scaled").status == 0


def test_help_tells_the_statuses(nonstrict: Command):
    run = nonstrict("audit", "--help")
    assert run.status == 0
    assert "Exit status: 0 no obstacle found" in run.out
    assert "audit" in nonstrict("--help").out
