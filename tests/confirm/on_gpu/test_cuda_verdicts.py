"""Programs with CUDA graphs: what is found in them, and on a machine with a GPU, the verdicts that they name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.check.run import check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS = sorted(Path(__file__).with_name("programs").glob("*.py"))
EXPECTED = re.compile(r"^# expected: (NST\d+) (\w+)$", re.MULTILINE)
#: What the evidence of some programs has to say, whichever call shows it first.
SAID = {
    "kept_in_a_list": "cannot be read after call 2: torch raises: accessing tensor output of CUDAGraphs",
    "kept_once_it_runs": "reads as another after call",
    "given_to_itself": "reads a result that was overwritten",
    "changed_argument": "mutated inputs",
    "many_sizes": "one for each value",
    "static_argument": "CUDA graphs ran in 5 calls",
    "copied_after_all": "CUDA graphs ran in 6 calls",
}


@pytest.fixture
def gpu() -> None:
    """Skips where there is no GPU."""
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA GPU: verdicts about CUDA graphs")


def expected(path: Path) -> list[tuple[str, str]]:
    return [(str(code), str(status)) for code, status in EXPECTED.findall(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_what_is_expected_is_found(path: Path):
    found = {one.code for one in check([str(path)], default_settings(str(path.parent))).diagnostics}
    assert {code for code, _ in expected(path)} <= found
    assert expected(path)


def verdicts(done: subprocess.CompletedProcess[str]) -> dict[tuple[str, str, int], dict[str, Any]]:
    assert done.returncode in {0, 1}, done.stderr
    listed = [one for one in json.loads(done.stdout) if one["verdict"]]
    return {(Path(one["filename"]).name, one["code"], one["location"]["row"]): one["verdict"] for one in listed}


@pytest.mark.torch
@pytest.mark.usefixtures("gpu")
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_the_verdict_on_a_gpu(nonstrict: Callable[..., subprocess.CompletedProcess[str]], path: Path):
    told = verdicts(nonstrict("check", "--confirm", "--device", "cuda", "--output-format", "json", str(path)))
    by_code = {code: verdict for (_, code, _), verdict in told.items()}
    for code, status in expected(path):
        assert (by_code[code]["status"], by_code[code]["device"]) == (status, "cuda"), by_code[code]
        assert SAID.get(path.stem, "") in by_code[code]["evidence"]


@pytest.mark.torch
@pytest.mark.usefixtures("gpu")
def test_the_examples_have_the_verdicts_of_the_cpu(nonstrict: Callable[..., subprocess.CompletedProcess[str]]):
    arguments = ("check", "--confirm", "--output-format", "json", str(ROOT / "examples"))
    here, there = (verdicts(nonstrict(*arguments, "--device", device)) for device in ("cpu", "cuda"))
    assert {place: one["status"] for place, one in there.items()} == {
        place: one["status"] for place, one in here.items()
    }


@pytest.mark.torch
@pytest.mark.usefixtures("gpu")
def test_a_gpu_without_memory_is_no_refusal(nonstrict: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path):
    text = (
        "import torch\n\nKEPT = []\n\n\n@torch.compile(fullgraph=True)\ndef grown(x):\n    print(x.shape)\n"
        "    return x\n\n\ndef main():\n    grown(torch.empty(1 << 42, device='cuda'))\n"
    )
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    told = verdicts(nonstrict("check", "--confirm", "--device", "cuda", "--output-format", "json", "model.py"))
    assert {one["reason"] for one in told.values()} == {"gpu-memory"}
