"""Experiments with projects whose files ask for arguments, variables and data as soon as they are imported."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.torch

SETTINGS = {
    "arguments": "import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--lr', required=True)\n"
    "ARGS = parser.parse_args()\n",
    "variables and data": "import json, os\nROOT = os.environ['NO_SUCH_VARIABLE']\n"
    "with open(os.path.join(ROOT, 'a.json')) as f:\n    DATA = json.load(f)\n",
    "hydra": "import hydra_that_is_missing as hydra\n\n@hydra.main(config_path='conf')\ndef run(cfg):\n"
    "    print(cfg.lr)\n\nrun()\n",
}
MODEL = """\
import torch
from settings import WIDTH
from torch._dynamo import nonstrict_trace

SCALE = 1.0


@nonstrict_trace
def scaled(x):
    return x * SCALE * WIDTH


@torch.compile(fullgraph=True)
def step(x):
    return scaled(x)


def main():
    global SCALE
    for _ in range(3):
        step(torch.ones(WIDTH))
        SCALE += 1.0
"""


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_what_a_sibling_asks_for_when_it_is_imported(
    tmp_path: Path, nonstrict: Callable[..., subprocess.CompletedProcess[str]], text: str
):
    (tmp_path / "settings.py").write_text(f"{text}\nWIDTH = 4\n")
    (tmp_path / "model.py").write_text(MODEL)
    run = nonstrict("check", "--confirm", "--output-format", "json", "model.py")
    (found,) = [one for one in json.loads(run.stdout) if one["code"] == "NST104"]
    assert found["verdict"]["status"] == "confirmed"
    assert "after `model.SCALE` changed from 1.0 to 2.0" in found["verdict"]["evidence"]
