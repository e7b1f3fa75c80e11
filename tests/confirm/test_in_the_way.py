"""Findings that others stood in the way of, in real programs: in callees, behind refused branches, after a trace."""

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

CALLEES = """
import functools
import logging

import torch

TABLES = {}
SLOPES = torch.arange(4.0)
log = logging.getLogger("scores")


def distances(length):
    if length not in TABLES:
        TABLES[length] = torch.arange(length).float()
    return TABLES[length]


def clipped(x):
    return x.clamp(max=1.0) if bool(x.isnan().any()) else x


@torch._dynamo.nonstrict_trace
def scored(x, seen):
    x = clipped(x) + distances(x.shape[-1])
    seen.append(int(x.sum()))
    log.debug("scored")
    return x * SLOPES[None, :]


@torch.compile(fullgraph=True)
def step(x, seen):
    return scored(x, seen) + 1


def main():
    seen = []
    for _ in range(3):
        step(torch.ones(2, 4), seen)
"""
MODES = """
import torch
from torch import nn


@torch._dynamo.nonstrict_trace
def penalty(model, x):
    return (model.last(model.drop(x)) ** 2).mean()


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)
        self.last = nn.Linear(4, 4)


@torch.compile(fullgraph=True)
def step(model, x):
    return penalty(model, x)


def main():
    model = Model()
    step(model, torch.ones(3, 4))
    step(model, torch.ones(3, 4) * 2)
"""
TRACED = """
import torch
from torch.fx.experimental.proxy_tensor import make_fx

masses = torch.ones(3)


def energy(x):
    return masses * x**2


def main():
    global masses
    traced = make_fx(energy)(torch.ones(3))
    masses = torch.tensor([1.0, 2.0, 3.0])
    for n in range(3):
        traced(torch.ones(3) + n)
"""


def verdicts(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], folder: Path, text: str
) -> dict[str, dict[str, Any]]:
    """The verdicts of a program by the rule."""
    (folder / "model.py").write_text(dedent(text))
    done = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    assert done.returncode in {0, 1}, done.stderr
    return {one["code"]: one["verdict"] for one in json.loads(done.stdout)}


def test_findings_of_a_function_and_of_what_it_calls(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    told = verdicts(nonstrict, tmp_path, CALLEES)
    status = {code: one["status"] for code, one in told.items()}
    assert {status[code] for code in ("NST101", "NST202", "NST207", "NST402")} == {"confirmed"}, told
    assert "(kept for the call alone, line 14)" in told["NST202"]["evidence"]
    # The program never shows the record.
    assert status["NST201"] == "inconclusive"


def test_the_mode_of_what_a_function_is_given_is_switched(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (verdict,) = verdicts(nonstrict, tmp_path, MODES).values()
    assert verdict["status"] == "confirmed", verdict
    assert verdict["evidence"].endswith("after `argument 1.drop` was switched to evaluation")


def test_what_changed_between_a_trace_and_the_first_call_of_its_graph(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    verdict = verdicts(nonstrict, tmp_path, TRACED)["NST101"]
    assert verdict["status"] == "confirmed", verdict
    assert "after `masses` changed" in verdict["evidence"]
