"""The fixes of regions that are compiled again, or compute with a value of the past, on real compiles.

The programs are the cases of `tests/fixes/pages/staying.md`: after a fix fewer graphs are compiled, and each call
computes what plain Python does.
"""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.fixes.test_pages import cases

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fixes.test_pages import Case
    from tests.warm.process import Warm

pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed"),
]

#: Runs a program, and prints how many graphs it compiled and how often a result differs from that of plain Python.
RUNNER = """\
import json
import runpy
import sys

import torch

seen = {"graphs": 0, "wrong": 0}
compiler, inductor = torch.compile, torch._dynamo.lookup_backend("inductor")


def counting(graph, inputs):
    seen["graphs"] += 1
    return inductor(graph, inputs)


def same(result, expected):
    pairs = zip(torch.utils._pytree.tree_leaves(result), torch.utils._pytree.tree_leaves(expected), strict=True)
    return all(torch.allclose(one, other) for one, other in pairs)


class Compared(torch.nn.Module):
    # a compiled module, with the attributes of what it wraps
    def __init__(self, fast, call):
        super().__init__()
        self.__dict__.update(fast=fast, call=call)

    def forward(self, *arguments, **named):
        return self.call(*arguments, **named)

    def __getattr__(self, name):
        return getattr(self.fast, name)

    def __setattr__(self, name, value):
        setattr(self.fast, name, value)


def compiled(model=None, **options):
    if model is None:
        return lambda function: compiled(function, **options)
    fast = compiler(model, **options, backend=counting)

    def call(*arguments, **named):
        result = fast(*arguments, **named)
        with torch.compiler.set_stance("force_eager"):
            seen["wrong"] += not same(result, model(*arguments, **named))
        return result

    return Compared(fast, call) if isinstance(model, torch.nn.Module) else call


torch.compile = compiled
runpy.run_path(sys.argv[1], run_name="__main__")
print(json.dumps(seen))
"""


def counted(warm: Warm, folder: Path, text: str) -> dict[str, int]:
    (folder / "runner.py").write_text(RUNNER)
    (folder / "main.py").write_text(text)
    done = warm.script(["runner.py", "main.py"], folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def mended() -> list[Any]:
    """The cases in which there is a fix."""
    return [case for case in cases() if str(case.id).startswith("staying") and case.values[0].after is not None]


@pytest.mark.parametrize("case", mended())
def test_a_fix_holds_under_torch(case: Case, warm: Warm, tmp_path: Path) -> None:
    assert case.after is not None
    before, after = counted(warm, tmp_path, case.before), counted(warm, tmp_path, case.after)
    assert after["wrong"] == 0
    if case.code == "NST805":
        assert before["wrong"] > 0
    else:
        assert after["graphs"] < before["graphs"]
