"""Compiled regions, run for real: what torch made of them against what findings say, and breaks that none foretold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.torch

MODEL = """\
import builtins
import json

import torch
from torch import nn

from helpers import NAME, noisy

# Values that only running tells.
KIND, NEVER = json.loads('["item", false]')


class Parts:
    @staticmethod
    def item(x):
        return x * x.max().item()


class Net(nn.Module):
    def forward(self, x):
        for _ in range(2):
            print("layer")
            x = getattr(Parts, KIND)(x)
        return x


class Clean(nn.Module):
    def forward(self, x):
        return x.relu() * 2


@torch.compile
def step(x):
    if NEVER:
        print("never")
    x = noisy(x)
    return getattr(Parts, KIND)(x)


@torch.compile(fullgraph=True)
def whole(x):
    getattr(builtins, NAME)("whole")
    return x


def main():
    x = torch.ones(3)
    step(x)
    clean = Clean()
    clean.compile()
    clean(x)
    torch.compile(Net())(x)
    whole(x)


if __name__ == "__main__":
    main()
"""
HELPERS = """\
import builtins
import json

NAME = json.loads('"print"')


def noisy(x):
    getattr(builtins, NAME)("noisy")
    return x + 1
"""
ITEM = "x.max().item()"


class Told(NamedTuple):
    """Regions by function, and findings by file and row."""

    regions: dict[str, dict[str, Any]]
    findings: dict[tuple[str, int], dict[str, Any]]


def written(folder: Path) -> Path:
    (folder / "model.py").write_text(MODEL)
    (folder / "helpers.py").write_text(HELPERS)
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command of nonstrict in a folder, with this interpreter's torch."""
    command = [sys.executable, "-m", "nonstrict", *arguments, "--isolated", "-q", "--python", sys.executable]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=600)
    if "cannot be isolated" in done.stderr or "no isolation" in done.stderr:
        pytest.skip("programs cannot be isolated on this machine")
    return done


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def told(project: Path) -> Told:
    """What a run says of all regions of the file."""
    pytest.importorskip("torch")
    done = run(project, "confirm", "model.py", "--output-format", "json", "-n")
    assert done.returncode == 1, done.stderr
    answer = json.loads(done.stdout)
    found = {(os.path.basename(one["filename"]), one["location"]["row"]): one for one in answer["findings"]}
    return Told({one["function"]: one for one in answer["regions"]}, found)


def line_of(text: str, source: str = MODEL) -> int:
    return next(number for number, line in enumerate(source.split("\n"), 1) if text in line)


def places(region: dict[str, Any]) -> list[tuple[str, int]]:
    return [(os.path.basename(one["filename"]), one["location"]["row"]) for one in region["breaks"]]


def test_a_region_is_held_against_its_findings(told: Told) -> None:
    region = told.regions["step"]
    assert (region["row"], region["calls"]) == (line_of("def step") - 1, 1)
    assert [one["operators"] for one in region["graphs"]] == [1, 1, 1]
    assert places(region) == [("helpers.py", line_of("getattr", HELPERS)), ("model.py", line_of(ITEM))]
    assert [(one["id"], one["predicted"], one["code"]) for one in region["breaks"]] == [
        ("GB0059", False, "NST701"),
        ("GB0124", False, "NST701"),
    ]
    assert region["fall_backs"] == []
    assert region["predicted"] == {"breaks": 1, "fall_back": False, "graphs": [1, 1]}
    (unseen,) = region["not_seen"]
    assert (unseen["location"]["row"], unseen["verdict"]) == (line_of('"never"'), "inconclusive: line not reached")


def test_breaks_that_no_finding_names_are_findings(told: Told) -> None:
    item = told.findings["model.py", line_of(ITEM)]
    assert (item["code"], item["severity"], item["observed"], item["function"]) == ("NST701", "warning", True, "step")
    assert item["message"] == f"torch breaks the graph at `{ITEM}` (GB0124)"
    assert item["note"].endswith("; the graph of `step` is left here")
    assert item["location"]["column"] == MODEL.split("\n")[item["location"]["row"] - 1].index(ITEM) + 1
    assert item["verdict"]["status"] == "confirmed"
    assert item["related"][0]["location"]["row"] == line_of("    return getattr(Parts, KIND)(x)")
    assert told.findings["helpers.py", line_of("getattr", HELPERS)]["observed"]
    assert not told.findings["model.py", line_of('"never"')]["observed"]


def test_a_fall_back_that_comes_is_foretold(told: Told) -> None:
    region = told.regions["Net.forward"]
    assert [one["predicted"] for one in region["breaks"]] == [True]
    (left,) = region["fall_backs"]
    where = line_of('"layer"')
    assert (left["function"], left["rest"], left["after"], left["id"]) == ("Net.forward", False, where, "GB7000")
    assert region["predicted"]["fall_back"]


def test_a_break_where_none_may_be_is_an_error(told: Told) -> None:
    found = told.findings["model.py", line_of('("whole")')]
    assert (found["severity"], found["function"], found["observed"]) == ("error", "whole", True)
    assert found["note"].endswith("; compilation of `whole` fails")
    assert told.regions["whole"]["breaks"][0]["raises"]
    assert not [one for one in told.findings.values() if one["code"] == "NST900"]


def test_a_region_without_findings_is_run_too(project: Path) -> None:
    done = run(project, "confirm", "model.py::Clean", "-n")
    assert done.returncode == 0
    assert done.stdout.splitlines()[-4:] == [
        f"`Clean.forward` (model.py:{line_of('class Clean') + 1}), 1 call on aot_eager and inductor:",
        "  graphs: 1, as predicted (operators: 2)",
        "  breaks: none",
        "  falls back to eager: no",
    ]


def test_a_name_that_fits_several_regions_is_asked_back(project: Path) -> None:
    done = run(project, "confirm", "model.py::forward")
    assert done.returncode == 2
    assert "`forward` may be any of `Net.forward`, `Clean.forward`." in done.stderr


def test_a_region_that_torch_is_switched_off_for_is_not_run(tmp_path: Path) -> None:
    text = "import torch\n\ntorch.compiler.set_stance('force_eager')\nregion = torch.compile(lambda x: x + 1)\n"
    text += "\n\n@torch.compile(disable=True)\ndef plain(x):\n    return x + 1\n"
    (tmp_path / "model.py").write_text(text)
    done = run(tmp_path, "confirm", "model.py::plain")
    assert done.returncode == 2
    assert done.stderr.strip() == "nonstrict: Nothing is compiled of `plain`: `disable=True`"
    done = run(tmp_path, "confirm", "model.py::<lambda>")
    assert done.stderr.strip().endswith("`torch.compiler.set_stance('force_eager')` on line 3 switches compilation off")


def test_functions_that_a_text_makes_are_there(tmp_path: Path) -> None:
    text = """
        import torch

        space = {}
        exec("def peak(x):\\n    return x / x.max().item()\\n", space)

        @torch.compile
        def step(x):
            return space["peak"](x) + 1

        def test_step():
            step(torch.ones(3))
    """
    (tmp_path / "model.py").write_text(textwrap.dedent(text))
    told = run(tmp_path, "confirm", "model.py::step", "-n").stdout
    assert "Unsupported Tensor.item() call" in told
    assert "GB0088" not in told


def test_a_break_where_eager_code_raises_too_is_no_finding(tmp_path: Path) -> None:
    text = """
        import torch

        TABLE = {}

        @torch.compile
        def step(x):
            return TABLE["scale"] * x

        def test_step():
            step(torch.ones(3))
    """
    (tmp_path / "model.py").write_text(textwrap.dedent(text))
    done = run(tmp_path, "confirm", "model.py::step", "-n")
    assert done.returncode == 0
    assert "1. model.py:8:12: Observed exception (GB0088): eager code raises there too" in done.stdout


def test_observed_breaks_are_suppressed_as_any_finding_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    text = MODEL.replace(f"x * {ITEM}", f"x * {ITEM}  # nonstrict: ignore[NST701]")
    (written(tmp_path) / "model.py").write_text(text)
    arguments = ["check", "--confirm", "model.py", "--output-format", "json", "--ignore", "NST902"]
    first, second = (json.loads(run(tmp_path, *arguments).stdout) for _ in range(2))
    rows = {(os.path.basename(one["filename"]), one["location"]["row"]) for one in first if one["observed"]}
    assert rows == {("helpers.py", line_of("getattr", HELPERS)), ("model.py", line_of('("whole")'))}
    assert first == second
    assert list((tmp_path / "cache").rglob("verdicts/*.json"))
