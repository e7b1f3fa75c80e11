"""Records of calls: how the files of processes become records, and how records are read."""

from __future__ import annotations

import json
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from nonstrict.confirm.recorded import function_hashes, recorded_calls
from nonstrict.confirm.recording import distinct, gather, laid_out, merge

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """\
import torch


class Net:
    @torch._dynamo.nonstrict_trace
    def step(self, x):
        return x


def outer():
    def inner(x):
        return x + 1
    return inner
"""


def tensor(*shape: int, **more: object) -> dict[str, Any]:
    return {"kind": "tensor", "shape": list(shape), "dtype": "float32", "device": "cpu", **more}


def call(*args: dict[str, Any], **kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"args": list(args), "kwargs": kwargs}


def spool(directory: Path, process: int, *events: dict[str, Any], tail: str = "") -> None:
    directory.mkdir(exist_ok=True)
    text = "".join(json.dumps(event) + "\n" for event in events)
    (directory / f"{process}.jsonl").write_text(text + tail)


def seen_call(path: Path, function: str, found: dict[str, Any]) -> dict[str, Any]:
    return {"event": "call", "path": str(path), "function": function, "call": found}


def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    path = tmp_path / "src" / "model.py"
    path.write_text(SOURCE)
    return path


def keep(root: Path, path: Path, function: str, *calls: dict[str, Any], limit: int = 8) -> list[str]:
    spool(root / "spool", 1, *(seen_call(path, function, each) for each in calls))
    return merge(gather(str(root / "spool")), str(root), str(root / ".nonstrict" / "inputs"), limit)


def test_calls_of_processes_are_merged_in_one_order(tmp_path: Path):
    path = project(tmp_path)
    small, large = call(tensor(1)), call(tensor(10), scale={"kind": "literal", "value": 2})
    spool(tmp_path / "spool", 7, seen_call(path, "Net.step", large), seen_call(path, "outer.<locals>.inner", small))
    spool(tmp_path / "spool", 8, seen_call(path, "Net.step", small), seen_call(path, "Net.step", large))
    (changed,) = merge(gather(str(tmp_path / "spool")), str(tmp_path), str(tmp_path / ".nonstrict" / "inputs"), 8)
    assert changed == str(tmp_path / ".nonstrict" / "inputs" / "src" / "model.py.json")
    assert [each.spec for each in recorded_calls(str(tmp_path), str(path), "Net.step")] == [small, large]
    for name in ("outer.inner", "outer.<locals>.inner"):
        assert [each.spec for each in recorded_calls(str(tmp_path), str(path), name)] == [small]
    assert not any(each.stale for each in recorded_calls(str(tmp_path), str(path), "Net.step"))
    assert recorded_calls(str(tmp_path), str(path), "Net.other") == ()


def test_a_record_is_laid_out_for_readers(tmp_path: Path):
    path = project(tmp_path)
    (target,) = keep(tmp_path, path, "Net.step", call({"kind": "none"}, tensor(1, 2)))
    digest = function_hashes(SOURCE)["Net.step"]
    with open(target, encoding="utf-8") as file:
        assert file.read() == (
            '{\n  "format": 1,\n  "file": "src/model.py",\n  "functions": {\n    "Net.step": {\n'
            f'      "source": "{digest}",\n      "calls": [\n        {{\n          "args": [\n'
            '            {"kind": "none"},\n'
            '            {"kind": "tensor", "shape": [1, 2], "dtype": "float32", "device": "cpu"}\n'
            '          ],\n          "kwargs": {}\n        }\n      ]\n    }\n  }\n}\n'
        )


def test_the_same_calls_again_change_nothing(tmp_path: Path):
    path = project(tmp_path)
    assert keep(tmp_path, path, "Net.step", call(tensor(1)), call(tensor(2)))
    assert keep(tmp_path, path, "Net.step", call(tensor(2))) == []
    assert [each.spec["args"][0]["shape"] for each in recorded_calls(str(tmp_path), str(path), "Net.step")] == [
        [1],
        [2],
    ]


def test_ranges_are_joined(tmp_path: Path):
    path = project(tmp_path)
    keep(tmp_path, path, "Net.step", call(tensor(4, dtype="int64", low=3, high=5)))
    keep(tmp_path, path, "Net.step", call(tensor(4, dtype="int64", low=0, high=4)))
    (found,) = recorded_calls(str(tmp_path), str(path), "Net.step")
    assert (found.spec["args"][0]["low"], found.spec["args"][0]["high"]) == (0, 5)
    assert distinct([call(tensor(4, low=1, high=2)), call(tensor(4))]) == [call(tensor(4))]


def test_results_are_no_arguments(tmp_path: Path):
    path = project(tmp_path)
    bare, told = call(tensor(1)), {**call(tensor(1)), "result": tensor(4)}
    other = {**told, "result": tensor(5)}
    (target,) = keep(tmp_path, path, "Net.step", told, other)
    found = recorded_calls(str(tmp_path), str(path), "Net.step")
    assert [(each.spec, each.result) for each in found] == [(bare, tensor(4)), (bare, tensor(5))]
    with open(target, encoding="utf-8") as file:
        assert f'          "result": {json.dumps(tensor(4))}\n' in file.read()
    # what was recorded before there were results says nothing more
    assert distinct([bare, told]) == distinct([told, bare]) == [told]
    assert distinct([bare, {**call(tensor(2)), "result": tensor(4)}])[0] == bare


def test_what_was_traced_only_makes_way_for_what_is_real(tmp_path: Path):
    path = project(tmp_path)
    traced, real = {**call(tensor(2)), "traced": True}, call(tensor(2, low=0, high=1))
    told = {**traced, "result": tensor(2)}
    assert distinct([told, real]) == distinct([real, told]) == [real]
    others = [{**call(tensor(size)), "traced": True} for size in (3, 4, 5)]
    keep(tmp_path, path, "Net.step", traced, *others, limit=3)
    assert [one.spec["args"][0]["shape"] for one in recorded_calls(str(tmp_path), str(path), "Net.step")] == [
        [2],
        [3],
        [4],
    ]
    keep(tmp_path, path, "Net.step", real, call(tensor(100)), limit=3)
    assert [one.spec for one in recorded_calls(str(tmp_path), str(path), "Net.step")] == [
        call(tensor(100)),
        real,
        call(tensor(3)),
    ]


def test_records_are_bounded_and_empty_tensors_come_last(tmp_path: Path):
    path = project(tmp_path)
    keep(tmp_path, path, "Net.step", *(call(tensor(size)) for size in (30, 20, 0, 10)))
    shapes = [each.spec["args"][0]["shape"] for each in recorded_calls(str(tmp_path), str(path), "Net.step")]
    assert shapes == [[10], [20], [30], [0]]
    keep(tmp_path, path, "Net.step", *(call(tensor(size)) for size in range(100)), limit=5)
    shapes = [each.spec["args"][0]["shape"] for each in recorded_calls(str(tmp_path), str(path), "Net.step")]
    assert len(shapes) == 5
    assert [10] in shapes


def test_an_edited_function_makes_records_stale_until_the_next_run(tmp_path: Path):
    path = project(tmp_path)
    keep(tmp_path, path, "Net.step", call(tensor(1)))
    keep(tmp_path, path, "outer.<locals>.inner", call(tensor(1)))
    path.write_text(SOURCE.replace("self, x", "self, x, y"))
    assert recorded_calls(str(tmp_path), str(path), "Net.step")[0].stale
    assert not recorded_calls(str(tmp_path), str(path), "outer.inner")[0].stale
    before = function_hashes(SOURCE)["Net.step"]
    assert not recorded_calls(str(tmp_path), str(path), "Net.step", before)[0].stale
    keep(tmp_path, path, "Net.step", call(tensor(1), tensor(2)))
    (found,) = recorded_calls(str(tmp_path), str(path), "Net.step")
    assert (len(found.spec["args"]), found.stale) == (2, False)


def test_the_hash_is_of_what_the_function_does():
    plain = function_hashes(SOURCE)
    decorated = SOURCE.replace("def outer", "@torch.compile\ndef outer").replace("x + 1\n", "x + 1\n\n")
    assert function_hashes("# moved\n\n" + decorated) == plain
    assert function_hashes(SOURCE.replace("x + 1", "x + 2"))["outer"] != plain["outer"]
    assert function_hashes(SOURCE.replace("\n", "\r\n")) == plain
    twice = SOURCE + "\n\ndef outer():\n    return 1\n"
    assert function_hashes(twice)["outer"] != plain["outer"]
    assert set(plain) == {"Net.step", "outer", "outer.inner"}


def test_what_cannot_be_read_is_no_record(tmp_path: Path):
    path = project(tmp_path)
    (target,) = keep(tmp_path, path, "Net.step", call(tensor(1)))
    for text in ("", "[]", "{", '{"format": 99, "functions": {}}', '{"format": 1, "functions": []}', "[" * 10_000):
        with open(target, "w", encoding="utf-8") as file:
            file.write(text)
        assert recorded_calls(str(tmp_path), str(path), "Net.step") == ()
    bad = {"source": "", "calls": [1, {"args": 2, "kwargs": {}}, call(tensor(3))]}
    with open(target, "w", encoding="utf-8") as file:
        file.write(laid_out({"format": 1, "file": "src/model.py", "functions": {"Net.step": bad, "outer": 3}}))
    assert [each.spec for each in recorded_calls(str(tmp_path), str(path), "Net.step")] == [call(tensor(3))]
    assert recorded_calls(str(tmp_path), str(path), "outer") == ()
    path.write_text("def broken(:\n")
    assert recorded_calls(str(tmp_path), str(path), "Net.step")[0].stale


def test_lines_that_were_cut_off_are_passed_over(tmp_path: Path):
    path = project(tmp_path)
    whole = seen_call(path, "Net.step", call(tensor(1)))
    spool(
        tmp_path / "spool", 1, {"event": "python"}, {"event": "torch", "version": "2.13.0"}, whole, tail='{"event": "ca'
    )
    seen = gather(str(tmp_path / "spool"))
    assert (seen.pythons, seen.torch, len(seen.calls)) == (1, ("2.13.0",), 1)
    assert gather(str(tmp_path / "nowhere")).pythons == 0


def merged_by_another(root: Path, path: Path, first: int) -> None:
    spool(root / f"spool{first}", 1, *(seen_call(path, "Net.step", call(tensor(first + size))) for size in range(10)))
    merge(gather(str(root / f"spool{first}")), str(root), str(root / ".nonstrict" / "inputs"), 100)


def test_commands_at_the_same_time_lose_nothing(tmp_path: Path):
    path = project(tmp_path)
    context = get_context("fork")
    processes = [context.Process(target=merged_by_another, args=(tmp_path, path, first)) for first in (10, 20, 30, 40)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert len(recorded_calls(str(tmp_path), str(path), "Net.step")) == 40
