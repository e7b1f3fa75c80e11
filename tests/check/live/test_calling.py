"""Who calls a marked function: in its file and in others, in functions that are compiled and in others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nonstrict.check.live.folder import Folder

if TYPE_CHECKING:
    from pathlib import Path

LAYERS = """\
import torch


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * 2


class Block:
    @torch._dynamo.nonstrict_trace
    def shifted(self, x):
        return x + 1

    @torch.compile
    def forward(self, x):
        return self.shifted(x)


def plain(x):
    return scaled(x)
"""
TRAIN = """\
import torch

from layers import scaled


def main():
    @torch.compile(fullgraph=True)
    def step(x):
        return scaled(x).sum()

    step(torch.ones(3))
"""


def callers(root: Path, function: str) -> set[tuple[str, bool, str, int]]:
    folder = Folder(str(root))
    found = folder.callers_of(str(root / "layers.py"), function)
    return {(one.caller, one.compiled, one.location.path.removeprefix(f"{root}/"), one.location.row) for one in found}


def test_calls_in_other_files_and_in_methods(tmp_path: Path):
    (tmp_path / "layers.py").write_text(LAYERS)
    (tmp_path / "train.py").write_text(TRAIN)
    assert callers(tmp_path, "scaled") == {
        ("plain", False, "layers.py", 20),
        ("main.<locals>.step", True, "train.py", 9),
    }
    assert callers(tmp_path, "Block.shifted") == {("Block.forward", True, "layers.py", 16)}
    assert callers(tmp_path, "plain") == set()


def test_an_unsaved_call_counts(tmp_path: Path):
    (tmp_path / "layers.py").write_text(LAYERS)
    folder = Folder(str(tmp_path))
    path = str(tmp_path / "layers.py")
    folder.set_text(path, LAYERS.replace("    return scaled(x)\n", "    return x\n"))
    assert folder.callers_of(path, "scaled") == ()
