"""`nonstrict confirm --show`: the graphs and the code of real compilations, as text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

PROGRAM = textwrap.dedent("""\
    import torch
    from torch._dynamo import nonstrict_trace

    SCALE = 2.0
    OFFSET = torch.ones(4)


    @nonstrict_trace
    def attend(x, weight):
        return torch.softmax(x @ weight * SCALE, dim=-1) + OFFSET


    class Head(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = torch.nn.Linear(4, 4)

        def forward(self, x):
            return attend(self.proj(x), self.proj.weight)


    def main():
        head = torch.compile(Head())
        head(torch.randn(3, 4))
        head(torch.randn(5, 4))


    @nonstrict_trace
    def doubled(x):
        return x * SCALE + 1


    def use():
        torch.compile(lambda x: doubled(x))(torch.ones(2))
    """)


@pytest.mark.torch
def test_a_graph_tells_names_and_lines(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(PROGRAM)
    done = nonstrict("confirm", "model.py::attend", "--show", "graph")
    assert done.returncode == 0, done.stderr
    assert "self.proj.weight: f32[4, 4]" in done.stdout
    assert "captured constant, model.py:10" in done.stdout
    rows = [" ".join(line.split()) for line in done.stdout.split("\n")]
    assert "OFFSET: f32[4] # captured constant, model.py:10 torch.softmax(x @ weight * SCALE, dim=-1) + OFFSET" in rows
    assert any("aten.mul.Tensor(mm, 2.0) # model.py:10 x @ weight * SCALE" in row for row in rows)
    assert "graph 1, backward: `Head`" in done.stdout
    assert "graph 2, forward: `Head` (recompiled)" in done.stdout


@pytest.mark.torch
def test_code_tells_what_it_was_made_from(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(PROGRAM)
    done = nonstrict("confirm", "model.py::doubled", "--show", "code")
    assert done.returncode == 0, done.stderr
    assert "input `x`" in done.stdout
    assert "model.py:30  x * SCALE" in done.stdout
    assert "def call(self, args)" in done.stdout or "def call(args)" in done.stdout


def test_a_function_that_is_not_there_is_told_with_those_that_are(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "model.py").write_text(PROGRAM)
    done = nonstrict("confirm", "model.py::attention", "--show", "graph")
    assert done.returncode == 2
    assert "has no function `attention`; it has `attend`, `doubled`" in done.stderr
    assert done.stdout == ""
