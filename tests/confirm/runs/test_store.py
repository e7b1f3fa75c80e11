"""Runs are kept with the project, and hold as long as the code stays what it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from nonstrict.confirm.runs.compilations import Observed
from nonstrict.confirm.runs.places import Project
from nonstrict.confirm.runs.store import DIRECTORY, keep, ran
from nonstrict.findings import Break, FallBack, Line, Measured, Recompiled

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TEXT = "import torch\n\n\n@torch.compile\ndef step(x):\n    y = x * 2\n\n    return y.item()\n"
NOW, WEEK = 1e9, 7 * 24 * 3600


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.py"
    path.write_text(TEXT)
    return path


def kept(model: Path, when: float = NOW, guard: str = "x == 1") -> None:
    path = str(model)
    line = Line(path, 8)
    broken = Break("Unsupported", "GB0124", "No.", "", (Line(path, 8, 11, 19),))
    left = FallBack("step", path, 4, 8, rest=False, at=8, type="loop", id="GB7000")
    again = (Recompiled(guard, (("x",),), (line,), 3, 1.5, limit=True),)
    region = Measured("step", path, 4, 0, (2,), 3, (broken,), (left,), "", (), again, 2.0)
    keep(Observed((region,), when, "2.13.0", 0, frozenset()), Project(str(model.parent)), when)


def told(model: Path, now: float = NOW) -> list[tuple[int, int, bool]]:
    """The line of the function, that of the break, and whether it is stale, of each function."""
    found = ran(Project(str(model.parent)), now)
    return [(one.region.line, one.region.breaks[0].lines[0].line, bool(one.stale)) for one in found]


def test_what_was_kept_is_read(model: Path):
    kept(model)
    (one,) = ran(Project(str(model.parent)), NOW)
    (broken,), (left,), (again,) = one.region.breaks, one.region.fallbacks, one.region.again
    assert broken.lines == (Line(str(model), 8, 11, 19),)
    assert (left.line, left.last, left.at) == (4, 8, 8)
    assert (again.guard, again.sources, again.times, again.limit) == ("x == 1", (("x",),), 3, True)
    assert (one.when, one.stale, one.region.seconds) == (NOW, frozenset(), 2.0)


def test_lines_move_with_the_code(model: Path):
    kept(model)
    model.write_text("import os\n" + TEXT.replace("\n\n    return", "\n    return"))
    assert told(model) == [(5, 8, False)]
    assert ran(Project(str(model.parent)), NOW)[0].region.fallbacks[0].at == 8


def test_an_edit_makes_it_stale_and_a_week_ends_it(model: Path):
    kept(model)
    model.write_text(TEXT.replace("x * 2", "x * 3"))
    assert told(model) == [(4, 8, True)]
    assert told(model, NOW + WEEK + 1) == []
    model.write_text(TEXT)
    assert told(model, NOW + WEEK + 1) == [(4, 8, False)]


def test_a_line_that_is_gone_is_dropped(model: Path):
    kept(model)
    model.write_text(TEXT.replace("y.item()", "y"))
    (one,) = ran(Project(str(model.parent)), NOW)
    assert (one.region.breaks, one.region.again) == ((), ())
    model.write_text(TEXT.replace("def step", "def other"))
    assert ran(Project(str(model.parent)), NOW) == ()


def test_the_latest_run_counts(model: Path):
    kept(model, NOW, "x == 1")
    kept(model, NOW + 10, "x == 2")
    kept(model, NOW + 5, "x == 3")
    (one,) = ran(Project(str(model.parent)), NOW + 20)
    assert one.region.again[0].guard == "x == 2"


def test_only_so_many_runs_are_kept(model: Path):
    for number in range(20):
        kept(model, NOW + number)
    names = sorted(path.name for path in (model.parent / ".nonstrict" / "runs").iterdir())
    assert len(names) == 16
    assert names[0].startswith("1000000004")


def test_a_file_that_is_no_run_says_nothing(model: Path):
    kept(model)
    (path,) = (model.parent / ".nonstrict" / "runs").iterdir()
    whole = path.read_text()
    for text in ("", "[]", '{"format": 1}', '{"format": 1, "when": 1, "regions": [{}], "anchors": {}}', whole[:-50]):
        path.write_text(text)
        assert ran(Project(str(model.parent)), NOW) == ()


#: Values that a file may hold anywhere, whoever wrote it.
ODD: tuple[Any, ...] = (None, -1, 10**9, "", "x", [], {}, True, float("inf"), -(10**20), ["a", 1], "../../x")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths to everything in a document."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield (*path, key)
        yield from places(inner, (*path, key))


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_whatever_a_file_holds_is_read_or_left(model: Path, odd: Any):
    kept(model)
    (path,) = (model.parent / DIRECTORY).glob("*.json")
    text = path.read_text(encoding="utf-8")
    for place in places(json.loads(text)):
        document: Any = json.loads(text)
        owner = document
        for key in place[:-1]:
            owner = owner[key]
        owner[place[-1]] = odd
        path.write_text(json.dumps(document), encoding="utf-8")
        for one in ran(Project(str(model.parent)), NOW):
            assert all(each.lines for each in (*one.region.breaks, *one.region.again))
