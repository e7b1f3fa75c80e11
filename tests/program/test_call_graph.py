"""The calls of marked functions: by which names they are reached, from where, and what they are given."""

from __future__ import annotations

import ast
import textwrap
from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.discovery import callers, roots
from nonstrict.program.domain.values import NO_CONSTANT
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.program.domain.definitions import Mark
    from nonstrict.program.state.machine import Machine

_MARKED = """
import torch
from torch._dynamo import nonstrict_trace

@nonstrict_trace
def marked(x, n=2):
    return x * n

"""


def marked(folder: Path, text: str, **others: str) -> tuple[Machine, Mark]:
    """The machine of a program, and the mark in it; `others` are the texts of files beside it."""
    path = folder / "program.py"
    path.write_text(_MARKED + textwrap.dedent(text))
    for name, other in others.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(other))
    files = [str(folder / f"{name}.py") for name in ("program", *others)]
    project = Project()
    machine = engine.machine(project, files)
    module = project.module(str(path))
    assert module is not None
    roots.discover(machine, module, roots.words_in(module.source.code))
    named = (mark for mark in machine.marks.values() if mark.function is not None and mark.function.name == "marked")
    return machine, next(named)


def calls(folder: Path, text: str, **others: str) -> list[str]:
    """The calls of the marked function of a program, as they are written."""
    return [ast.unparse(call.node) for call in callers.calls_of(*marked(folder, text, **others))]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("def f(x):\n    return marked(x)", "marked(x)"),
        ("other = marked\ndef f(x):\n    return other(x)", "other(x)"),
        ("TABLE = {'a': marked}\ndef f(x):\n    return TABLE['a'](x)", "TABLE['a'](x)"),
        ("def f(x):\n    def g(y):\n        return marked(y)\n    return g(x)", "marked(y)"),
    ],
    ids=["by its name", "by another name", "in a container", "in a closure"],
)
def test_by_which_names_it_is_reached(tmp_path: Path, text: str, call: str):
    assert calls(tmp_path, text) == [call]


def test_files_that_import_it_call_it(tmp_path: Path):
    found = calls(tmp_path, "", user="import program\ndef f(x):\n    return program.marked(x, 3)\n")
    assert found == ["program.marked(x, 3)"]


def test_another_function_of_that_name_is_not_called(tmp_path: Path):
    assert calls(tmp_path, "", user="def marked(x): ...\ndef f(x):\n    return marked(x)\n") == []


def test_what_calls_give_is_joined(tmp_path: Path):
    machine, mark = marked(tmp_path, "def f(x):\n    return marked(x, 3)\ndef g(x):\n    return marked(x, 3)\n")
    assert callers.joined_arguments(machine, mark)["n"].const == 3


def test_two_numbers_are_a_number(tmp_path: Path):
    machine, mark = marked(tmp_path, "def f(x):\n    return marked(x, 3)\ndef g(x):\n    return marked(x, 4)\n")
    assert callers.joined_arguments(machine, mark)["n"].const is NO_CONSTANT


def test_tensors_that_are_defaults_are_given_where_a_region_leaves_them_out(tmp_path: Path):
    text = """
        ONES = torch.ones(3)

        @nonstrict_trace
        def biased(x, bias=ONES):
            return x + bias

        @torch.compile
        def f(x):
            return biased(x)
    """
    machine, _ = marked(tmp_path, text)
    biased = next(mark for mark in machine.marks.values() if mark.function and mark.function.name == "biased")
    assert callers.defaults_used(machine, biased)["bias"].is_tensor


@pytest.mark.parametrize(("decorator", "compiled"), [("@torch.compile\n", True), ("", False)])
def test_a_call_stands_in_a_region(tmp_path: Path, decorator: str, compiled: bool):
    machine, mark = marked(tmp_path, f"{decorator}def f(x):\n    return marked(x)\n")
    (call,) = callers.calls_of(machine, mark)
    assert callers.is_compiled(machine, call) is compiled


def test_what_a_region_calls_is_in_the_region(tmp_path: Path):
    text = "def inner(x):\n    return marked(x)\n@torch.compile\ndef f(x):\n    return inner(x)\n"
    machine, mark = marked(tmp_path, text)
    (call,) = callers.calls_of(machine, mark)
    assert callers.is_compiled(machine, call)
