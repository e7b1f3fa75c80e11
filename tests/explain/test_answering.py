"""The pages of a message after what is found at its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.explain.answering import Answer, explained
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path

DYNAMIC = """\
torch.fx.experimental.symbolic_shapes.ConstraintViolationError: Constraints violated (L['x'].size()[0])! For more \
information, run with TORCH_LOGS="+dynamic".
  - You marked L['x'].size()[0] as dynamic but your code specialized it to be a constant (6).

User stack:
  File "{path}", line {line}, in step
"""
PRINTED = """\
torch._dynamo.exc.Unsupported: Failed to trace builtin operator

from user code:
   File "{path}", line {line}, in step
"""
TWO = """\
import torch

if torch.cuda.is_available():
    @torch.compile(fullgraph=True)
    def step(x):
        y = x + 1
        return y
else:
    @torch.compile(fullgraph=True)
    def step(x):
        print(x.sum())
        return x
"""
SHAPES = """\
import torch

@torch._dynamo.nonstrict_trace
def step(x):
    assert x.shape[0] == 6
    y = x + 1
    return x.view(3, 2)

@torch.compile(fullgraph=True)
def run(x):
    return step(x)

x = torch.ones(6)
torch._dynamo.mark_dynamic(x, 0)
run(x)
"""


def answer(folder: Path, code: str, text: str, line: int) -> Answer:
    path = folder / "model.py"
    path.write_text(code, encoding="utf-8")
    told = explained(text.format(path=path, line=line), str(folder), default_settings(str(folder)))
    return told.answers[0]


@pytest.mark.parametrize(("line", "found"), [(6, []), (12, ["NST701"]), (11, ["NST701"])])
def test_functions_of_one_name_are_told_apart(tmp_path: Path, line: int, found: list[str]):
    assert [one.code for one in answer(tmp_path, TWO, PRINTED, line).found.findings] == found


def test_a_rule_that_finds_nothing_stands_behind_what_holds_anyway(tmp_path: Path):
    code = SHAPES.replace("    assert x.shape[0] == 6\n", "")
    told = answer(tmp_path, code, DYNAMIC, 6)
    assert [page.id for page in told.pages] == ["constraints-violated", "NST506"]
    assert told.found.findings == ()
    anywhere = explained(DYNAMIC.partition("\n")[0], str(tmp_path), default_settings(str(tmp_path)))
    assert [page.id for page in anywhere.answers[0].pages] == ["constraints-violated", "NST506"]


def test_a_rule_with_a_finding_is_the_answer(tmp_path: Path):
    assert [page.id for page in answer(tmp_path, SHAPES, DYNAMIC, 5).pages] == ["NST506"]
