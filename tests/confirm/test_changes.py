"""State that an experiment changes by itself, since the program never does while it is run."""

from __future__ import annotations

import json
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch


def told(nonstrict: Callable[..., subprocess.CompletedProcess[str]], folder: Path, text: str) -> dict[str, Any]:
    """The verdicts of a program by the variable that its findings are about."""
    (folder / "model.py").write_text(dedent(text))
    done = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    assert done.returncode in {0, 1}, done.stderr
    return {one["message"].split("`")[3]: one["verdict"] for one in json.loads(done.stdout)}


def test_a_change_of_one_global_is_not_seen_though_both_arguments_are_one(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch
    from torch._dynamo import nonstrict_trace

    scale = 0.5

    @nonstrict_trace
    def scaled(x, weight):
        return x + weight * scale

    @torch.compile(fullgraph=True)
    def step(x, weight):
        return scaled(x, weight)

    def main():
        x = torch.ones(2)
        step(x, x)

    def tune(value):
        global scale
        scale = value
    """
    (verdict,) = told(nonstrict, tmp_path, text).values()
    assert verdict["status"] == "confirmed"
    assert verdict["evidence"].startswith("call 3: eager 2.5, compiled 1.5"), verdict["evidence"]
    assert verdict["evidence"].endswith("after `scale` was set from 0.5 to 1.5")


def test_changes_of_several_globals_are_told_apart(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    text = """
    import torch
    from torch._dynamo import nonstrict_trace

    first = 1.0
    second = 10.0
    idle = 100.0

    @nonstrict_trace
    def scaled(x):
        return x * first + second + idle * 0

    @torch.compile(fullgraph=True)
    def step(x):
        return scaled(x)

    def main():
        step(torch.ones(()))

    def tune(value):
        global first, second, idle
        first = second = idle = value
    """
    verdicts = told(nonstrict, tmp_path, text)
    assert {name: one["status"] for name, one in verdicts.items()} == {
        "first": "confirmed",
        "second": "confirmed",
        "idle": "inconclusive",
    }
    assert "eager 12, compiled 11, after `first` was set from 1.0 to 2.0" in verdicts["first"]["evidence"]
    assert "eager 12, compiled 11, after `second` was set from 10.0 to 11.0" in verdicts["second"]["evidence"]
    assert verdicts["idle"]["reason"] == "insensitive"
