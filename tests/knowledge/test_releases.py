"""Which tables answer for a release of torch, what is told of that, and what the report on another release says."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from nonstrict.coverage import Counts
from nonstrict.knowledge import guards, releases, store
from nonstrict.knowledge.graph_breaks import graph_break
from nonstrict.knowledge.releases import BASE, TABLES, answering, measured, nearest, neighbour, release_of, tables
from nonstrict.report.context import Context, Lines, renderer
from nonstrict.report.summary import looked_at

if TYPE_CHECKING:
    from collections.abc import Generator

    from nonstrict.knowledge.releases import Release

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
OTHERS = [(name, release) for name in TABLES for release in measured(name) if release != BASE]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """A copy of the tables, without those of other releases than the base."""
    copied = Path(shutil.copytree(store.DATA, tmp_path / "data", ignore=shutil.ignore_patterns("*-*.json")))
    monkeypatch.setattr(store, "DATA", str(copied))
    releases.read_anew()
    yield copied
    monkeypatch.undo()
    releases.read_anew()


def breaks_of(release: str, base: str, entries: dict[str, str]) -> str:
    return json.dumps(
        {"torch": f"{release}.0", "base": f"{base}.0", "python": "3.11", "reasons": {}, "entries": entries}
    )


@pytest.mark.parametrize(("version", "release"), [("2.14.0a0+git1", (2, 14)), ("2.13.1+cpu", (2, 13)), (None, BASE)])
def test_the_release_of_a_version(version: str | None, release: Release):
    assert release_of(version) == release


@pytest.mark.parametrize(
    ("torch", "found"),
    [
        ((2, 7), (2, 11)),
        ((2, 11), (2, 11)),
        ((2, 12), (2, 11)),
        ((2, 13), (2, 13)),
        ((2, 14), (2, 13)),
        ((2, 16), (2, 15)),
        ((3, 0), (2, 15)),
    ],
)
def test_the_nearest_answers_and_of_two_the_older(data: Path, torch: Release, found: Release):
    for release in ("2.11", "2.15"):
        (data / f"graph_breaks-{release}.json").write_text(breaks_of(release, "2.13", {}))
    assert nearest("graph_breaks", torch) == found


def test_a_table_differs_from_the_one_that_it_names(data: Path):
    (data / "graph_breaks-2.15.json").write_text(breaks_of("2.15", "2.13", {"call:builtins.print": ""}))
    (data / "graph_breaks-2.17.json").write_text(breaks_of("2.17", "2.15", {"call:time.time": ""}))
    keys = ("call:builtins.print", "call:time.time")
    told = {torch: [graph_break(key, torch) is None for key in keys] for torch in ((2, 13), (2, 15), (2, 17))}
    assert told == {(2, 13): [False, False], (2, 15): [True, False], (2, 17): [True, True]}
    assert [neighbour("graph_breaks", torch) for torch in ((2, 12), (2, 14), (2, 15), (2, 18))] == [
        (2, 13),
        (2, 13),
        (2, 13),
        (2, 17),
    ]


@pytest.mark.parametrize(("name", "release"), OTHERS)
def test_every_table_says_of_which_torch_it_is_and_what_it_differs_from(name: str, release: Release):
    own = tables(name, release)[0] if name != "graph_breaks_in_pieces" else releases.table(name, release)
    assert release_of(own["torch"]) == release
    assert own["python"]
    base = release_of(own["base"])
    assert base == (release if name == "graph_breaks_in_pieces" else neighbour(name, release))
    part = "rows" if name == "guards" else "entries"
    known = tables("guards" if name == "guards" else "graph_breaks", BASE)[-1]
    assert own[part].keys() <= known[part].keys()


@pytest.mark.parametrize("release", [release for name, release in OTHERS if name == "guards"])
def test_guards_of_another_release(release: Release):
    own = releases.table("guards", release)
    assert guards.limit(release) == own["limit"]
    for key, row in own["rows"].items():
        source, kind, use = key.split("/")
        found = guards.compiled(source, kind, use, torch=release)
        assert (found is None) == (not row[1].removesuffix("!").isdecimal()), key
        assert found is None or found.compilations == int(row[1].removesuffix("!")), key


def test_the_tool_says_whose_tables_it_uses_where_there_are_none(data: Path):
    (data / "guards-2.15.json").write_text(json.dumps({"torch": "2.15.0", "base": "2.13.0", "rows": {}}))
    counts = Counts(regions=2)
    assert looked_at(counts, ["2.13.1+cpu"]) == "2 regions analyzed.\n"
    assert looked_at(counts, [None]) == "2 regions analyzed.\n"
    assert looked_at(counts, ["2.14.0"]) == "2 regions analyzed.\nFor torch 2.14, the tables of 2.13 are used.\n"
    told = "For torch 2.16, the tables of 2.13 and 2.15 are used.\n"
    assert looked_at(counts, ["2.16"]) == f"2 regions analyzed.\n{told}"
    assert looked_at(counts, ["2.13", "2.16", None, "2.16.1"]) == f"2 regions analyzed.\n{told}"
    assert answering("2.15") == ((2, 13),)


@pytest.mark.parametrize(("torch", "notes"), [("2.13.0", 0), ("2.14.0", 1)])
def test_viewers_of_sarif_are_told_too(data: Path, torch: str, notes: int):
    log = json.loads(renderer("sarif")([], Context(Lines({}), torches=(torch,))))
    told = log["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert [one["level"] for one in told] == ["note"] * notes


def test_the_report_names_what_differs_and_the_findings_that_change(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    report = importlib.import_module("taking_in.report").report
    (data / "graph_breaks-2.16.json").write_text(breaks_of("2.16", "2.13", {"call:builtins.print": ""}))
    operators = json.loads((data / "operators.json").read_text(encoding="utf-8"))
    del operators["functions"]["torch.acos"]
    (tmp_path / "operators.json").write_text(json.dumps(operators))
    text = report("2.16.0", tmp_path, ["examples"])
    assert "- graph_breaks, beside torch 2.13.0: 1 traced, 0 break, 0 break under another id" in text
    assert "  - traced: `call:builtins.print`" in text
    assert "- operators, functions, beside torch 2.13.0: 1 gone, 0 new, 0 others\n  - gone: `torch.acos`" in text
    assert re.findall(r"- `-(counter\.py:\d+:\d+ NST701)", text)
    assert not re.findall(r"- `\+.* NST701", text)


def test_guards_are_compared_by_what_is_compiled(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "guards", raising=False)
    writing = importlib.import_module("guards.writing")
    head = {"python": "3.11", "values": 12, "limit": 8, "ways": [""]}
    base = {"torch": "2.13.0", **head, "rows": {"a//": ["v == 1", "2"], "b//": ["", "1"]}}
    other = {"torch": "2.16.0", **head, "rows": {"a//": ["v == 2", "2"], "b//": ["", "8!"]}}
    found = json.loads(writing.changes_text(other, base))
    assert (found["torch"], found["base"], found["rows"]) == ("2.16.0", "2.13.0", {"b//": ["", "8!"]})


def test_the_counts_are_those_of_the_tables(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    monkeypatch.delitem(sys.modules, "guards", raising=False)
    counting = importlib.import_module("count_releases")
    text = counting.RESULTS.read_text(encoding="utf-8")
    assert counting.page(text) == text
    assert counting.KEPT in text
