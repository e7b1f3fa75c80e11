"""What torch captures in CUDA graphs, as the table says it."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import pytest

from nonstrict.knowledge import cuda_graphs
from nonstrict.knowledge.store import data_file
from nonstrict.program.contracts.regions.capturing import Part

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of scripts can be imported from."""
    monkeypatch.syspath_prepend(str(SCRIPTS))


@pytest.mark.parametrize(
    ("options", "asked"),
    [
        ('mode="reduce-overhead"', True),
        ('mode="max-autotune"', True),
        ('mode="max-autotune-no-cudagraphs"', False),
        ('mode="default"', False),
        ('options={"triton.cudagraphs": True}', True),
        ('options={"triton.cudagraphs": False}', False),
        ('backend="cudagraphs"', True),
        ("config.triton.cudagraphs", True),
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


def test_the_backend_of_that_name_leaves_changes_out_and_splits_nothing():
    assert not cuda_graphs.is_skipped("argument", "cudagraphs")
    drawn = ("on the CPU", "drawn and moved")
    split, whole = cuda_graphs.captured(*drawn), cuda_graphs.captured(*drawn, "cudagraphs")
    assert split is not None
    assert whole is not None
    assert (split.recorded > 0, bool(split.apart), bool(split.skipped)) == (True, True, False)
    assert (whole.recorded, bool(whole.skipped)) == (0, True)
    assert cuda_graphs.captured(*drawn, "of another torch") is None


def test_every_part_that_is_looked_for_was_measured():
    for part in Part:
        row = cuda_graphs.captured(*part.value)
        assert row is not None, part
        assert part is Part.MADE or row.apart or row.skipped, part


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


@pytest.mark.usefixtures("scripts")
def test_the_table_is_not_replaced_by_that_of_another_torch(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    pytest.importorskip("torch")
    written = importlib.import_module("generate_cuda_graphs")
    table = tmp_path / "table.json"
    assert written.other_version(table, "2.13.0") == ""
    table.write_text('{"torch": "2.13.0"}', encoding="utf-8")
    assert written.other_version(table, "2.13.0") == ""
    told = "the table is of torch 2.13.0, and this is 2.14.0: say --output FILE, which may be that of the table"
    assert written.other_version(table, "2.14.0") == told
    monkeypatch.setattr(written, "other_version", lambda table, version: told)
    monkeypatch.setattr(written, "measured", lambda rows, processes: pytest.fail("measured all the same"))
    monkeypatch.setattr(sys, "argv", ["generate_cuda_graphs.py"])
    with pytest.raises(SystemExit):
        written.main()
    assert capsys.readouterr().err.endswith(f"error: {told}\n")


@pytest.mark.usefixtures("scripts")
def test_what_needs_two_gpus_is_not_measured_on_one():
    measuring, programs = (importlib.import_module(f"cuda_graphs.{name}") for name in ("measuring", "programs"))
    rows = [row for row in programs.programs() if "OTHER" in row.text]
    assert {row.name for row in rows} == {"two devices"}
    assert [measuring.is_met(row.needs, gpus) for row in rows for gpus in (0, 1, 2)] == [True, False, True] * len(rows)
    assert [measuring.is_met("memory", gpus) for gpus in (0, 1)] == [False, True]
    assert [measuring.is_met("", gpus) for gpus in (0, 1)] == [True, True]


@pytest.mark.usefixtures("scripts")
def test_programs_on_a_gpu_are_bounded(monkeypatch: pytest.MonkeyPatch):
    measuring = importlib.import_module("cuda_graphs.measuring")
    monkeypatch.setattr(measuring.os, "cpu_count", lambda: 64)
    assert (measuring.processes_for(0), measuring.processes_for(1)) == (64, 4)
    monkeypatch.setattr(measuring.os, "cpu_count", lambda: 2)
    assert measuring.processes_for(1) == 2
