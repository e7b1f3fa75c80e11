"""Marked functions that a call chooses among, over several files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

OPS = """\
import torch
from torch._dynamo import nonstrict_trace

LIMIT = 1


@nonstrict_trace
def coarse(x):
    return x.round()


@nonstrict_trace
def fine(x):
    return x * 10


quantise = coarse


@torch.compile(fullgraph=True)
def forward(x):
    return quantise(x)


def refine():
    global quantise
    quantise = fine
"""
OTHER = """\
import torch

import ops
from ops import fine as finer


@torch.compile(fullgraph=True)
def direct(x):
    return ops.coarse(x) + finer(x) + ops.LIMIT


def eager(x):
    return finer(x)
"""


def test_regions_of_other_files_mark_what_they_call(tmp_path: Path):
    result = mended(tmp_path, {"ops.py": OPS, "other.py": OTHER}, {"NST107"})
    assert (result.before, result.after) == (["NST107"], [])
    assert result.titles == ["Mark `quantise` where it is called"]
    assert result.files["ops.py"] == OPS.replace("@nonstrict_trace\n", "").replace(
        "return quantise(x)", "return nonstrict_trace(quantise)(x)"
    )
    assert result.files["other.py"] == OTHER.replace(
        "ops.coarse(x) + finer(x)",
        "torch._dynamo.nonstrict_trace(ops.coarse)(x) + torch._dynamo.nonstrict_trace(finer)(x)",
    )


def test_a_use_that_reaches_something_else_as_well(tmp_path: Path):
    further = OTHER + "\n\n@torch.compile\ndef chosen(x, flag):\n    return (finer if flag else torch.sin)(x)\n"
    result = mended(tmp_path, {"ops.py": OPS, "other.py": further}, {"NST107"})
    assert result.titles == []


def test_an_instance_whose_function_another_file_calls(tmp_path: Path):
    stage = """\
import torch
from torch import nn


class Stage(nn.Module):
    def __init__(self, factor):
        super().__init__()
        self.scale = torch._dynamo.nonstrict_trace(lambda x: x * factor)

    def forward(self, x):
        return self.scale(x) + 1


first = torch.compile(Stage(2), fullgraph=True)
second = torch.compile(Stage(3), fullgraph=True)
"""
    other = "from stage import Stage\n\n\ndef scaled(x, scale):\n    return {}(x)\n"
    files = {"stage.py": stage, "other.py": other.format("Stage(2).scale")}
    assert mended(tmp_path, files, {"NST107"}).titles == []
    files["other.py"] = other.format("scale")
    result = mended(tmp_path, files, {"NST107"})
    assert result.titles == ["Mark one function `scale` for all instances"]
    assert result.files["other.py"] == files["other.py"]
