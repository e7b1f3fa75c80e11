"""A program that writes where results are written is not believed, whatever it writes there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

FORGING = """\
import os

import torch

SCALE = torch.ones(3)
FORGED = b'{"result": {"calls": [], "lines": {}, "files": [], "missing": [], "applied": [], "operators": {}}}'


def forging(x):
    if WHEN:
        for name in os.listdir("/proc/self/fd"):
            try:
                os.write(int(name), FORGED + bytes([10]))
            except OSError:
                pass
    return x


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * SCALE


@torch.compile
def region(x):
    return scaled(x)


def main():
    global SCALE
    region(forging(torch.ones(3)))
    SCALE = torch.full((3,), 2.0)
    region(torch.ones(3))
"""
#: In every arm; in none; in those that compile alone.
ALWAYS, NEVER = "True", "False"
COMPILING = "torch._dynamo.eval_frame._stance.stance != 'force_eager'"


@pytest.mark.parametrize(("when", "expected"), [(NEVER, "confirmed"), (ALWAYS, "tampered"), (COMPILING, "tampered")])
@pytest.mark.parametrize("tier", ["copy-on-write", "deny"])
def test_forged_results_give_no_verdict(
    nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, when: str, expected: str, tier: str
):
    from nonstrict_agent.isolation.tiers import probe

    if not any(offer.available for offer in probe() if offer.tier.value == tier):
        pytest.skip(f"needs the tier {tier}")
    (tmp_path / "model.py").write_text(FORGING.replace("WHEN", when))
    done = nonstrict("check", "--confirm", "model.py", "--isolation", tier, "--output-format", "json")
    found: list[dict[str, Any]] = json.loads(done.stdout)
    verdicts = [one["verdict"] for one in found if one["code"] == "NST101"]
    assert verdicts, done.stderr
    assert {one["status"] if one["status"] == "confirmed" else one["reason"] for one in verdicts} == {expected}, (
        verdicts
    )
