"""What models change of what is found in programs that use the libraries."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.analysis import AnalysisOptions, analyse
from nonstrict.check.environment import Environment, Environments

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nimport acme\nfrom torch._dynamo import nonstrict_trace\n"
MODEL = """
import torch.nn
from torch import Tensor

from nonstrict.models import does
from nonstrict.models.terms import Changed, T, submodule

@does.log
def report(value) -> None: ...
@does.random("draws from the pool of acme")
def drawn() -> float: ...
@does.native("runs a kernel")
def fused(x: Tensor) -> Tensor: ...
def table() -> dict[str, Tensor]: ...
def tuned(function: T) -> T: ...
def push(into: Changed, value) -> None: ...

class Scaled(torch.nn.Module):
    def forward(self, x) -> Tensor: ...

class Cache:
    def put(self: Changed, key, value) -> None: ...
    def get(self, key) -> Tensor: ...

CACHE: Cache

@submodule
class metrics:
    @does.io("counts on the server")
    def count(value) -> None: ...
"""


def findings(directory: Path, program: str, **files: str) -> list[tuple[str, str]]:
    """The code and message of each finding in a program, with what the model says of `acme`."""
    model = directory / "acme.pyi"
    model.write_text(MODEL, encoding="utf-8")
    main = directory / "main.py"
    main.write_text(HEAD + textwrap.dedent(program), encoding="utf-8")
    for name, text in files.items():
        path = directory / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.with_suffix(".py").write_text(textwrap.dedent(text), encoding="utf-8")
    options = AnalysisOptions(Environments(Environment("2.13.0", (str(directory / "site"),), (str(model),))))
    return [(one.code, one.message) for one in analyse([str(main)], options).findings]


def body(*lines: str) -> str:
    return (
        "@nonstrict_trace\ndef f(x):\n"
        + "".join(f"    {line}\n" for line in (*lines, "return x"))
        + "f(torch.ones(3))\n"
    )


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("acme.report(1)", "NST201", "`acme.report` writes a log record at trace time only"),
        ("acme.metrics.count(1)", "NST201", "`acme.metrics.count` counts on the server at trace time only"),
        ("x = x * acme.drawn()", "NST301", "`acme.drawn` draws from the pool of acme at trace time only"),
        ("x = acme.fused(x)", "NST403", "`acme.fused` gets a traced tensor, which has no data"),
        ("acme.CACHE.put('a', 1)", "NST203", "`put` on global `acme.CACHE` happens at trace time only"),
    ],
)
def test_effects_of_a_library_are_found(tmp_path: Path, line: str, code: str, message: str):
    (found,) = findings(tmp_path, body(line))
    assert found[0] == code
    assert found[1].startswith(message)


def test_what_an_argument_loses_is_found(tmp_path: Path):
    program = "SEEN = []\n" + body("acme.push(SEEN, 1)") + "print(SEEN)\n"
    assert [code for code, _ in findings(tmp_path, program)] == ["NST203"]


def test_a_decorator_that_returns_its_function_is_seen_through(tmp_path: Path):
    program = "@acme.tuned\n" + body("print(x)")
    assert [code for code, _ in findings(tmp_path, program)] == ["NST201"]


def test_a_model_counts_in_place_of_code_of_the_project(tmp_path: Path):
    code = "def report(value):\n    return value\n\n\ndef other(value):\n    print(value)\n"
    found = findings(tmp_path, body("acme.report(1)", "acme.other(1)"), acme=code)
    assert [message.partition("`")[2].partition("`")[0] for _, message in found] == ["acme.report", "print"]


def test_a_model_counts_in_place_of_an_installed_package(tmp_path: Path):
    code = "class Cache:\n    def put(self, key, value):\n        print(key)\n\n\nCACHE = Cache()\n"
    found = findings(tmp_path, body("acme.CACHE.put('a', 1)"), site__acme=code)
    assert [code for code, _ in found] == ["NST203"]


def test_a_layer_that_a_model_describes_is_looked_at(tmp_path: Path):
    program = """
    layers = torch.nn.Sequential(torch.nn.Linear(3, 3), acme.Scaled(2))

    @torch.compile
    def f(x):
        return layers(x)

    f(torch.ones(3))
    """
    options = AnalysisOptions(Environments(Environment("2.13.0", models=(str(tmp_path / "acme.pyi"),))), regions=True)
    assert findings(tmp_path, program) == []
    looked = analyse([str(tmp_path / "main.py")], options).looked
    assert [region.unseen for region in looked.regions] == [()]
