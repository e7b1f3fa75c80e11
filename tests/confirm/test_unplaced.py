"""Errors that name no line of a finding: they are its own where they are gone without it."""

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

#: What `shift` is, the analysis cannot know: the name of its module is made up while the program runs.
HIDDEN = """
import torch

SHIFT = torch.ones(3)


def shift(x):
    return x + SHIFT


def plain(x):
    return x + 1
"""
PROGRAM = """
import importlib
import os

import torch

other = importlib.import_module(os.environ.get("SHIFTS", "other"))
TABLE = torch.ones(3)


@torch._dynamo.nonstrict_trace
def scaled(x):
    return other.SHIFT_OR_PLAIN(x) * (TABLE if torch.is_grad_enabled() and x.ndim > LEAST else 1.0)


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x) + 1


def main():
    for _ in range(3):
        step(torch.ones(3))
"""


@pytest.mark.parametrize(
    ("called", "least", "status"),
    [
        ("shift", "3", "inconclusive"),  # `TABLE` is not used; torch refuses `SHIFT` in the same words
        ("shift", "0", "inconclusive"),  # both are used: which of them torch refuses is not known
        ("plain", "0", "confirmed"),
    ],
)
def test_a_captured_tensor_that_torch_refuses_somewhere(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, called: str, least: str, status: str
) -> None:
    (tmp_path / "other.py").write_text(dedent(HIDDEN), encoding="utf-8")
    text = dedent(PROGRAM).replace("SHIFT_OR_PLAIN", called).replace("LEAST", least)
    (tmp_path / "main.py").write_text(text, encoding="utf-8")
    done = nonstrict("check", "--confirm", "main.py", "--output-format", "json")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    verdicts = [one["verdict"] for one in found if one["code"] == "NST101"]
    assert [one["status"] for one in verdicts] == [status], verdicts
    if status == "inconclusive":
        assert verdicts[0]["reason"] == "blocked"
