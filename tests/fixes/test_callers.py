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
    assert done.files["region.py"] == _REGION.replace(", history", "")
    assert done.files["program.py"].endswith(
        """\
    for _ in range(12):
        hidden = torch.ones(3)
        print("keeping", hidden.shape)
        y, value = forward(hidden)
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


_TWO = """\
import torch


@torch._dynamo.nonstrict_trace
def scale(x: torch.Tensor, weight: torch.Tensor, count):
    print({}, count)
    return x * weight


@torch.compile(fullgraph=True)
def forward(x, weight, count):
    return scale(x, weight, count)


class Counter:
    number = 0

    def counted(self):
        self.number += 1
        return self.number


def main():
    counter = Counter()
    {}
"""


@pytest.mark.parametrize(
    ("needs", "call", "lines"),
    [
        (
            "x.shape",
            "print(forward(torch.randn(3), torch.randn(3), 1))",
            ["x = torch.randn(3)", "print(x.shape, 1)", "print(forward(x, torch.randn(3)))"],
        ),
        (
            "weight.shape",
            "print(forward(torch.randn(3), torch.randn(3), 1))",
            [
                "x = torch.randn(3)",
                "weight = torch.randn(3)",
                "print(weight.shape, 1)",
                "print(forward(x, weight))",
            ],
        ),
        (
            "x.shape",
            "print(forward(weight=torch.randn(3), x=torch.randn(3), count=counter.number))",
            [
                "weight = torch.randn(3)",
                "x = torch.randn(3)",
                "print(x.shape, counter.number)",
                "print(forward(weight=weight, x=x))",
            ],
        ),
        (
            "weight.shape",
            "print(forward(count=counter.number, x=torch.ones(3), weight=torch.ones(counter.counted())))",
            [
                "count = counter.number",
                "x = torch.ones(3)",
                "weight = torch.ones(counter.counted())",
                "print(weight.shape, count)",
                "print(forward(x=x, weight=weight))",
            ],
        ),
    ],
)
def test_arguments_are_evaluated_in_their_order(tmp_path: Path, needs: str, call: str, lines: list[str]):
    done = mended(tmp_path, {"model.py": _TWO.format(needs, call)}, {"NST201"})
    assert done.files["model.py"].endswith("counter = Counter()\n    " + "\n    ".join(lines) + "\n")
    assert done.after == []


def test_an_argument_that_binds_a_name_stays(tmp_path: Path):
    text = _TWO.format("x.shape", "print(forward((y := torch.randn(3)), y, 1))")
    titles = mended(tmp_path, {"model.py": text}, {"NST201"}).titles
    assert not [title for title in titles if title.startswith("Move")]


def test_a_form_feed_before_a_definition(tmp_path: Path):
    text = _TWO.format("x.shape", "print(forward(torch.ones(3), torch.ones(3), 1))").replace("def main", "\fdef main")
    done = mended(tmp_path, {"model.py": text}, {"NST201"})
    assert done.files["model.py"].endswith(
        "    x = torch.ones(3)\n    print(x.shape, 1)\n    print(forward(x, torch.ones(3)))\n"
    )
