"""What torch captures in CUDA graphs, as the table says it."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from nonstrict.knowledge import cuda_graphs
from nonstrict.knowledge.store import data_file

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ('mode="reduce-overhead"', True),
        ('mode="max-autotune"', True),
        ('mode="max-autotune-no-cudagraphs"', False),
        ('mode="default"', False),
        ('options={"triton.cudagraphs": True}', True),
        ('options={"triton.cudagraphs": False}', False),
        ('mode="of another torch"', False),
    ],
)
def test_which_options_ask_for_them(options: str, asked: bool):
    assert cuda_graphs.is_asked_for(options) is asked


@pytest.mark.parametrize(
    ("place", "skipped"),
    [
        ("argument", True),
        ("entry of an argument", True),
        ("global", True),
        ("attribute of an object", True),
        ("attribute of the module", False),
        ("buffer", False),
        ("parameter", False),
        ("argument with a static address", False),
        ("what the region made", False),
        ("unknown", False),
    ],
)
def test_for_which_changes_they_are_skipped(place: str, skipped: bool):
    assert cuda_graphs.is_skipped(place) is skipped


def test_one_is_recorded_for_each_size_and_number():
    assert cuda_graphs.is_recorded_for_each("size")
    assert cuda_graphs.is_recorded_for_each("size, dynamic=True")
    assert cuda_graphs.is_recorded_for_each("int")
    assert not cuda_graphs.is_recorded_for_each("unknown")


def test_the_table_has_a_row_for_each_program(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    programs = importlib.import_module("cuda_graphs.programs")
    keys = [program.key for program in programs.programs()]
    assert sorted(keys) == sorted(data_file("cuda_graphs.json")["rows"])
    assert len(keys) == len(set(keys))


def test_what_is_measured_again_is_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    torch = pytest.importorskip("torch")
    table = data_file("cuda_graphs.json")
    if table["torch"] != torch.__version__.split("+")[0] or bool(table["device"]) != torch.cuda.is_available():
        pytest.skip("the table was measured with another version of torch, or with a GPU where there is none here")
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.setattr(sys, "argv", ["", "--only", "changed in place/argument", "--output", str(tmp_path / "found")])
    importlib.import_module("generate_cuda_graphs").main()
    found = json.loads((tmp_path / "found").read_text(encoding="utf-8"))["rows"]
    known = table["rows"]
    assert found == {key: known[key] for key in found}
    assert len(found) > 1
