"""What real runs did in a folder, held against its findings as texts are edited."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.folder import Folder
from nonstrict.check.live.known import write_baselines
from nonstrict.check.live.sightings import Sightings, is_run
from nonstrict.confirm.runs import store
from nonstrict.confirm.runs.compilations import observed
from nonstrict.confirm.runs.logs import read_logs
from nonstrict.confirm.runs.places import Project
from tests.confirm.runs.logs import Log

if TYPE_CHECKING:
    from pathlib import Path

MODEL = """\
import torch

from helper import shown


@torch.compile
def step(x):
    return shown(x) + 1


step(torch.ones(3))
"""
HELPER = """\
def shown(x):
    print(x)
    y = x + 1
    return y.cos()
"""


class Bench:
    """A folder with two files, a region in one of them that goes through the other, and runs of it."""

    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.root.mkdir()
        self.model, self.helper = str(self.root / "model.py"), str(self.root / "helper.py")
        (self.root / "nonstrict.toml").write_text("")
        (self.root / "model.py").write_text(MODEL)
        (self.root / "helper.py").write_text(HELPER)
        self._traces = root / "traces"
        self.folder = Folder(str(self.root))
        self.sightings = Sightings(self.folder)

    def run(self, *lines: int, when: float = 0.0) -> None:
        """A run in which the graph broke on lines of the helper."""
        log = Log(self._traces)
        log.started("0/0", self.model, 6, "step")
        for line in lines:
            log.broke("0/0", self.helper, line, "shown", HELPER.splitlines()[line - 1].strip())
        log.done("0/0", "step")
        project = Project(str(self.root))
        store.keep(observed(read_logs(str(self._traces)), project), project, when or time.time())

    def examine(self) -> None:
        """Everything is examined."""
        self.folder.scan()
        while pending := self.folder.pending():
            self.folder.examine(pending[0])

    def told(self, path: str) -> list[tuple[str, int, bool | None]]:
        """Codes and rows of a file, and whether a run did it."""
        told = self.sightings.told(path, self.folder.diagnostics(path))
        return [(one.code, one.location.row, one.sighting and not one.sighting.passed) for one in told]


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_nothing_is_noted_before_all_is_examined(bench: Bench):
    bench.run(2, 4)
    bench.folder.set_text(bench.helper, HELPER)
    assert bench.told(bench.helper) == []
    bench.folder.scan()
    assert bench.told(bench.helper) == []
    bench.examine()
    assert bench.told(bench.helper) == [("NST701", 2, True), ("NST701", 4, True)]


def test_a_run_counts_from_when_it_is_kept_until_it_is_gone(bench: Bench):
    bench.examine()
    assert bench.told(bench.helper) == [("NST701", 2, None)]
    bench.run(2, when=time.time() - 100)
    assert bench.told(bench.helper) == [("NST701", 2, True)]
    bench.run(4)
    assert bench.told(bench.helper) == [("NST701", 2, False), ("NST701", 4, True)]
    for record in (bench.root / store.DIRECTORY).iterdir():
        record.unlink()
    assert bench.told(bench.helper) == [("NST701", 2, None)]


def test_the_text_in_the_editor_counts(bench: Bench):
    bench.examine()
    bench.run(2, 4)
    bench.folder.set_text(bench.helper, "import os\n\n" + HELPER)
    assert bench.told(bench.helper) == [("NST701", 4, True), ("NST701", 6, True)]
    bench.folder.set_text(bench.helper, HELPER.replace("y.cos()", "y.sin()"))
    assert bench.told(bench.helper) == [("NST701", 2, True)]
    assert bench.sightings.ran(bench.model, "step") is None
    bench.folder.set_text(bench.helper, HELPER)
    assert bench.sightings.ran(bench.model, "step") is not None
    bench.folder.set_text(bench.model, MODEL.replace("+ 1", "+ 2"))
    assert bench.sightings.ran(bench.model, "step") is None


def test_what_the_baseline_holds_is_not_told_as_something_new(bench: Bench):
    write_baselines(bench.folder)
    bench.run(2, 4)
    assert bench.told(bench.helper) == [("NST701", 4, True)]


def test_records_of_runs_are_known_by_their_place():
    assert is_run("/home/me/project/.nonstrict/runs/1.json")
    assert is_run("/home/me/project/.nonstrict/runs")
    assert is_run("/home/me/project/.nonstrict")
    assert not is_run("/home/me/project/.nonstrict/inputs/1.json")
    assert not is_run("/home/me/project/runs/1.json")
