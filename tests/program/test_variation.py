"""How values vary that a region has from outside: the kinds of values, and how many there are, for each place.

`MANY` is said where nothing bounds them. What varies in ways that are not known is not told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check.analysis import AnalysisOptions
from nonstrict.check.examination import Task, examined
from nonstrict.events import Event
from nonstrict.program import engine
from nonstrict.program.contracts.interpreted import Regions
from nonstrict.program.contracts.regions import variation
from nonstrict.program.contracts.regions.region import CompiledRegion, CompiledRegions
from nonstrict.program.discovery.exports import Exports
from nonstrict.program.interpret.rounds import MANY
from nonstrict.program.linking.project import Project

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HEAD = "import torch\nfrom torch import nn\nfrom elsewhere import given\n\n"
STEP = "@torch.compile\ndef step(x, v):\n    return x * v\n\n"
LIST = "@torch.compile\ndef step(x, v):\n    return x + torch.stack(v).sum()\n\n"
MODEL = """\
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.v = 1

    def forward(self, x):
        return x * self.v

model = Model()
region = torch.compile(model)
"""


def regions(folder: Path, text: str) -> Iterator[CompiledRegion]:
    """The regions of a program."""
    path = folder / "program.py"
    path.write_text(HEAD + text)
    machine = engine.machine(Project(), [str(path)])
    examined(machine, Task({str(path)}, {str(path)}, Exports()), AnalysisOptions())
    known = machine.part(Regions)
    assert isinstance(known, CompiledRegions)
    yield from known.seen()


def told(folder: Path, text: str, place: str) -> tuple[set[str], int]:
    """How what lives at a place varies."""
    found = [
        variation.of(region, seen.effect)
        for region in regions(folder, text)
        for seen in region.observed(Event.GUARD)
        if seen.effect.place.text == place
    ]
    assert found, "the region does not use it"
    return set(found[0].kinds), found[0].number


@pytest.mark.parametrize(
    ("calls", "kinds", "number"),
    [
        ("step(torch.ones(3), 2)", set[str](), 0),
        ("step(torch.ones(3), 2)\nstep(torch.ones(3), 2)", set[str](), 0),
        ("step(torch.ones(3), 2)\nstep(torch.ones(3), 3)", {"int"}, 2),
        ("step(torch.ones(3), .5)\nstep(torch.ones(3), 1.5)", {"float"}, 2),
        ("for i in range(5):\n    step(torch.ones(3), i)", {"int"}, 5),
        ("for i in range(given):\n    step(torch.ones(3), i)", {"int"}, MANY),
        ("for i in range(5):\n    step(torch.ones(3), i / 4)", {"float"}, 5),
        ("for i in (1.5, 2.5, 3.5):\n    step(torch.ones(3), i)", {"float"}, 3),
        ("def run():\n    n = 0\n    while given():\n        n += 1\n        step(torch.ones(3), n)", {"int"}, MANY),
        ("step(torch.ones(3), given())", set[str](), 0),
    ],
)
def test_what_calls_pass(tmp_path: Path, calls: str, kinds: set[str], number: int):
    assert told(tmp_path, STEP + calls, "v") == (kinds, number)


@pytest.mark.parametrize(
    ("calls", "kinds", "number"),
    [
        ("v = []\nfor _ in range(12):\n    v.append(torch.ones(3))\n    step(torch.ones(3), v)", {"list length"}, 12),
        ("step(torch.ones(3), [torch.ones(3)])", set[str](), 0),
    ],
)
def test_how_many_entries_containers_have(tmp_path: Path, calls: str, kinds: set[str], number: int):
    assert told(tmp_path, LIST + calls, "v") == (kinds, number)


@pytest.mark.parametrize(
    ("calls", "kinds", "number"),
    [
        ("step(torch.ones(3), 1)\nstep(torch.ones(4), 1)", {"size"}, 2),
        ("step(torch.ones(1), 1)\nstep(torch.ones(4), 1)", {"size from 0"}, 2),
        ("step(torch.ones(3, 4), 1)\nstep(torch.ones(4, 5), 1)", {"two sizes"}, 2),
        ("step(torch.ones(3), 1)\nstep(torch.ones(3, 3), 1)", {"rank"}, 2),
        ("step(torch.ones(3, 4), 1)\nstep(torch.ones(3, 4).T, 1)", {"strides"}, 2),
        ("for n in range(2, 9):\n    step(torch.ones(n), 1)", {"size"}, 7),
        ("for batch in given:\n    step(batch, 1)", set[str](), 0),
    ],
)
def test_how_tensors_differ(tmp_path: Path, calls: str, kinds: set[str], number: int):
    assert told(tmp_path, STEP + calls, "x") == (kinds, number)


@pytest.mark.parametrize(
    ("calls", "kinds", "number"),
    [
        ("model.v = 3\nregion(torch.ones(3))", set[str](), 0),
        ("for epoch in range(10):\n    model.v = epoch\n    region(torch.ones(3))", {"int"}, 10),
        ("for _ in range(10):\n    region(torch.ones(3))\n    model.v += 1", {"int"}, 10),
        ("for _ in range(10):\n    region(torch.ones(3))\n    model.v *= .5", {"float"}, 10),
    ],
)
def test_what_is_written_between_calls(tmp_path: Path, calls: str, kinds: set[str], number: int):
    assert told(tmp_path, MODEL + calls, "self.v") == (kinds, number)


def test_what_objects_hold_one_method_of_which_is_compiled_for_all(tmp_path: Path):
    blocks = "class Block(nn.Module):\n    def __init__(self, v):\n        super().__init__()\n        self.v = v\n\n"
    blocks += "    def forward(self, x):\n        return x * self.v\n\n"
    blocks += "blocks = [Block(i) for i in range(12)]\nfor block in blocks:\n    block.compile()\n"
    assert told(tmp_path, blocks, "self.v") == ({"int"}, 12)
