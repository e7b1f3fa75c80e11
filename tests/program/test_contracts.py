"""What the interpreter does of itself, and what the contracts that a machine is made with add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.program import engine
from nonstrict.program.domain.values import Kind
from nonstrict.program.interpret.interpreter import Interpreter
from nonstrict.program.linking.project import Project
from nonstrict.program.state.contracts_protocol import Contracts

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.program.domain.values import Value
    from nonstrict.program.state.machine import Machine

_PROGRAM = """
import torch
from torch._dynamo import nonstrict_trace

def scale(x):
    return x * 2

traced = nonstrict_trace(scale)
quick = torch.compile(scale)
three = 1 + 2
"""


def held(folder: Path, name: str, contracts: Contracts | None) -> tuple[Machine, Value]:
    """A machine, with those of torch if no contracts are given, and what a top-level name of the program holds."""
    path = folder / "program.py"
    path.write_text(_PROGRAM)
    project = Project()
    files = [str(path)]
    machine = engine.machine(project, files) if contracts is None else Interpreter(project, contracts, files)
    module = project.module(str(path))
    assert module is not None
    return machine, machine.global_value(module, name)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("three", Kind.NUMBER), ("traced", Kind.PARTIAL), ("quick", Kind.PARTIAL), ("scale", Kind.FUNCTION)],
)
def test_without_contracts_nothing_is_marked_or_compiled(tmp_path: Path, name: str, kind: Kind):
    machine, value = held(tmp_path, name, Contracts())
    assert value.kind is kind
    assert not machine.marks
    assert not machine.regions


def test_markers_are_answered(tmp_path: Path):
    machine, value = held(tmp_path, "traced", None)
    assert value.kind is Kind.MARKED
    assert [mark.api for mark in machine.marks.values()] == ["nonstrict_trace"]


def test_compilers_are_answered(tmp_path: Path):
    machine, _ = held(tmp_path, "quick", None)
    assert [region.function.qualname for region in machine.regions.values()] == ["scale"]


def test_what_is_kept_with_a_machine_is_one_of_its_kind(tmp_path: Path):
    machine, _ = held(tmp_path, "three", Contracts())
    words = machine.part(set)
    assert machine.part(set) is words
    machine.keep({"other"})
    assert machine.part(set) == {"other"}


def test_all_contracts_are_answered():
    asked = {name for name in vars(Contracts) if not name.startswith("_")}
    answering = type(engine.machine(Project()).contracts)
    assert asked == {name for name in vars(answering) if not name.startswith("_")}
