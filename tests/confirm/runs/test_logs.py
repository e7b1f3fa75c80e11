"""The logs of TORCH_TRACE, as they come: numbers for names, ranks, lines that were cut off, other files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.confirm.runs.logs import NoLogsError, read_logs
from tests.confirm.runs.logs import Log

if TYPE_CHECKING:
    from pathlib import Path


def test_numbers_stand_for_names_of_files(tmp_path: Path):
    log = Log(tmp_path)
    log.started("0/0", "/job/model.py", 7, "step", ("/job/train.py", 3, "main"))
    (read,) = read_logs(str(tmp_path))
    (entry,) = read.entries
    assert [frame["filename"] for frame in entry.fields["dynamo_start"]["stack"]] == ["/job/train.py", "/job/model.py"]
    assert entry.key == ("", "0", "0")
    assert (read.rank, read.damaged) == (-1, 0)


def test_a_payload_belongs_to_the_entry_before_it(tmp_path: Path):
    log = Log(tmp_path)
    log.entry("chromium_event", {}, "0/0", '{"name": "dynamo"}')
    log.broke("0/0", "/job/model.py", 8, "step", "x.item()")
    log.entry("artifact", {"name": "before_pre_grad_graph"}, "0/0", "a graph")
    ((entry,),) = [read.entries for read in read_logs(str(tmp_path))]
    assert entry.payload.startswith("Graph break in user code at /job/model.py:8\n")
    assert entry.payload.endswith("    return inner_fn(self, inst)\n")


def test_each_rank_has_a_log_wherever_it_lies(tmp_path: Path):
    for rank in range(2):
        Log(tmp_path / f"host{rank}", rank).done("0/0", "step")
    named = tmp_path / "host0" / "renamed.log"
    (tmp_path / "host0" / "dedicated_log_torch_trace_rank_0_abcd.log").rename(named)
    assert [read.rank for read in read_logs(str(tmp_path))] == [0, 1]


def test_lines_that_were_cut_off_are_counted_and_passed_over(tmp_path: Path):
    log = Log(tmp_path)
    log.done("0/0", "step")
    whole = log.path.read_text()
    log.path.write_text(f"half a line {{\n{whole[:-30]}\n{whole}\n\x00\xff\n{whole[:60]}")
    (read,) = read_logs(str(tmp_path))
    assert [entry.name for entry in read.entries] == ["compilation_metrics"]
    assert read.damaged == 4


def test_a_line_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("nonstrict.confirm.runs.logs._LONGEST_LINE", 1000)
    log = Log(tmp_path)
    with log.path.open("a") as file:
        file.write('V1129 04:58:37.5 1 a.py:1] {"compilation_metrics": "' + "x" * 5000 + '"}\n')
    log.done("1/0", "step")
    (read,) = read_logs(str(tmp_path))
    assert ([entry.key[1] for entry in read.entries], read.damaged) == (["1"], 1)


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [("", "", "does not exist"), ("train.log", "epoch 1\n", "holds no log of TORCH_TRACE"), ("x", "1", "holds no log")],
)
def test_where_there_are_no_logs_it_is_said(tmp_path: Path, name: str, text: str, complaint: str):
    place = tmp_path / "traces"
    if name:
        place.mkdir()
        (place / name).write_text(text)
    with pytest.raises(NoLogsError, match=complaint):
        list(read_logs(str(place)))
