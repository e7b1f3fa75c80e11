"""Applications of `torch.compile`, edit by edit: what is told of them is what a fresh analysis tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.check.live.test_folder import Editing, fresh

if TYPE_CHECKING:
    from pathlib import Path

PROGRAM = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x):
        return self.linear(x)

    def encode(self, x):
        return self.linear(x).relu()


def train(x):
    net = torch.compile(Net())
    net(x)
    torch.save(net.state_dict(), "net.pt")


def evaluate(x):
    net = Net()
    net.load_state_dict(torch.load("net.pt"))
    return net(x)


def encoded(x):
    net = torch.compile(Net())
    y = x + 1
    return net.encode(y)


def checked(module):
    return isinstance(module, Net)


def main(x):
    net = torch.compile(Net())
    net(x)
    return checked(net)


coder = torch.compile(Net())
print(coder.encode(torch.ones(3)))


def later(x):
    y = x + 2
    return y
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('    net.load_state_dict(torch.load("net.pt"))\n', "    x = x + 1\n"),
        ('torch.load("net.pt")', 'torch.load("other.pt")'),
        ('    torch.save(net.state_dict(), "net.pt")\n', "    x = x + 1\n"),
        ("    return net.encode(y)", "    return net(y)"),
        ("    y = x + 1\n", "    y = x + 1\n    y = y + 1\n"),
        ("    return isinstance(module, Net)", "    return module is None"),
        ("    y = x + 2\n", "    y = coder(x)\n"),
    ],
)
def test_an_edit_within_a_function(tmp_path: Path, old: str, new: str):
    editing = Editing(str(tmp_path), {"model.py": PROGRAM})
    path = str(tmp_path / "model.py")
    before = editing.found()
    assert {one.code for one in before[path]} == {"NST801", "NST802"}
    changed = PROGRAM.replace(old, new)
    assert changed != PROGRAM
    editing.change(path, changed)
    assert editing.found() == fresh(str(tmp_path), editing.texts)
    editing.change(path, PROGRAM)
    assert editing.found() == before
