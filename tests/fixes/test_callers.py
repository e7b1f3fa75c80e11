"""Work that moves to callers in other files, or cannot because a use of the function is not a plain call."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tests.fixes.projects import mended

if TYPE_CHECKING:
    from pathlib import Path

_MARKED = """\
import torch


@torch._dynamo.nonstrict_trace
def keep(hidden: torch.Tensor, history):
    print("keeping", hidden.shape)
    history.append(hidden * 2)
    return hidden + 1
"""
_REGION = """\
import torch

from marked import keep


@torch.compile(fullgraph=True)
def forward(hidden, history):
    return keep(hidden, history)
"""


def files(**texts: str) -> dict[str, str]:
    return {f"{name}.py": dedent(text) for name, text in texts.items()}


def test_through_two_files(tmp_path: Path):
    program = """\
    import torch

    from region import forward


    def main():
        history = []
        for _ in range(12):
            y = forward(torch.ones(3), history)
        print(y, len(history))
    """
    done = mended(tmp_path, files(marked=_MARKED, region=_REGION, program=program), {"NST201", "NST202"})
    assert done.files["marked.py"].endswith("    value = hidden * 2\n    return hidden + 1, value\n")
    assert done.files["region.py"] == _REGION
    assert done.files["program.py"].endswith(
        """\
    for _ in range(12):
        hidden = torch.ones(3)
        print("keeping", hidden.shape)
        y, value = forward(hidden, history)
        history.append(value)
    print(y, len(history))
"""
    )
    assert done.after == []


@pytest.mark.parametrize(
    "use",
    [
        "outputs = list(map(forward, [x], [history]))",
        "forward(*[x, history])",
        "callback = [forward]",
        "print([forward(x, history) for _ in range(2)])",
        "while forward(x, history).sum() < 1:\n        x = x + 1",
        "y = x if x.dim() else forward(x, history)",
    ],
)
def test_other_uses(tmp_path: Path, use: str):
    program = f"from region import forward\n\n\ndef main(x, history):\n    {use}\n"
    done = mended(tmp_path, files(marked=_MARKED, region=_REGION, program=program), {"NST201", "NST202"})
    assert not [title for title in done.titles if title.startswith(("Move", "Return"))]
    assert done.files["program.py"] == program


def test_state_of_another_file_stays_there(tmp_path: Path):
    marked = """\
    import torch

    LOG = []


    @torch._dynamo.nonstrict_trace
    def scale(x):
        LOG.append(1)
        return x * 2
    """
    region = """\
    import torch

    from marked import scale


    @torch.compile(fullgraph=True)
    def forward(x):
        return scale(x)
    """
    done = mended(tmp_path, files(marked=marked, region=region), {"NST203"})
    assert done.titles == []
