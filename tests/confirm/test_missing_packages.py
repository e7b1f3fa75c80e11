"""Experiments with projects that lack packages: verdicts where a function does without, else what it takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Nonstrict = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.torch

FILES = {
    "encoder/__init__.py": "from .tracking import Tracker\nfrom .norms import Norm, clip\n",
    "encoder/tracking.py": (
        "import wandb\nimport os\n\nFOLDER = os.environ['NO_SUCH_VARIABLE']\n\n"
        "class Tracker:\n    def __init__(self):\n        self.run = wandb.init(dir=FOLDER)\n"
    ),
    "encoder/norms.py": (
        "import apex\n\nclass Norm(apex.normalization.FusedLayerNorm):\n    pass\n\n\n"
        "@apex.amp.float_function\ndef clip(x):\n    return x.clamp(-1, 1)\n"
    ),
}
BODY = """\
import torch
from torch._dynamo import nonstrict_trace

from encoder.norms import clip

SCALE = 1.0


@nonstrict_trace
def scaled(x):
    {before}
    return x * SCALE


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x)


def main():
    global SCALE
    for _ in range(2):
        step(torch.ones(2))
        SCALE += 1
"""


def verdict(tmp_path: Path, nonstrict: Nonstrict, text: str, code: str = "NST104") -> dict[str, Any]:
    """What an experiment says of the only finding of a rule."""
    for path, held in {**FILES, "encoder/steps.py": text}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(held)
    run = nonstrict("check", "--confirm", "--output-format", "json", "encoder/steps.py")
    (found,) = [one for one in json.loads(run.stdout) if one["code"] == code]
    return found["verdict"]


def test_a_function_that_does_without_what_its_package_lacks(tmp_path: Path, nonstrict: Nonstrict):
    told = verdict(tmp_path, nonstrict, BODY.format(before="x = x + 1"))
    assert told["status"] == "confirmed"
    assert "compiled" in told["evidence"]


@pytest.mark.parametrize(
    "before",
    [
        "x = clip(x)",
        "x = x if clip is None else clip(x)",
        "try:\n        x = clip(x)\n    except Exception:\n        x = x + 1",
    ],
)
def test_a_function_that_computes_with_it(tmp_path: Path, nonstrict: Nonstrict, before: str):
    told = verdict(tmp_path, nonstrict, BODY.format(before=before))
    assert (told["status"], told["reason"]) == ("inconclusive", "needs")
    assert told["evidence"] == "`apex.amp.float_function` could not be imported: No module named 'apex'"


def test_what_to_do_is_told(tmp_path: Path, nonstrict: Nonstrict):
    verdict(tmp_path, nonstrict, BODY.format(before="x = clip(x)"))
    run = nonstrict("check", "--confirm", "--select", "NST104", "encoder/steps.py")
    assert "`scaled` uses what could not be loaded (`apex.amp.float_function`" in run.stdout
    assert "`pip install`" in run.stdout


def test_an_import_beside_a_marker_is_no_refusal_of_torch(tmp_path: Path, nonstrict: Nonstrict):
    text = """\
import torch
import apex

@torch.library.custom_op("mine::halved", mutates_args=())
def halved(x: torch.Tensor) -> torch.Tensor:
    return apex.halved(x)

@halved.register_fake
def fake(x):
    return x

@torch.compile
def step(x):
    return halved(x)

def main():
    step(torch.ones(2))
"""
    for path, held in {**FILES, "steps.py": text}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(held)
    run = nonstrict("check", "--confirm", "--output-format", "json", "steps.py")
    assert [one["code"] for one in json.loads(run.stdout) if (one["verdict"] or {}).get("status") == "confirmed"] == []
