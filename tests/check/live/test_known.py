"""The baseline in a workspace folder: what it leaves out while texts change, and writing it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from nonstrict.check.live.folder import Folder
from nonstrict.check.live.known import write_baselines
from nonstrict.check.run import RunOptions, check
from nonstrict.settings.errors import ConfigurationError
from nonstrict.settings.model import DEFAULT_BASELINE, default_settings
from tests.cli.conftest import BAD, CLEAN

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "bad.py").write_text(BAD, encoding="utf-8")
    (tmp_path / "clean.py").write_text(CLEAN, encoding="utf-8")
    (tmp_path / "nonstrict.toml").write_text("", encoding="utf-8")
    return tmp_path


def codes(folder: Folder, name: str = "bad.py") -> list[str]:
    return [one.code for one in folder.diagnostics(f"{folder.root}/{name}")]


def test_what_is_known_is_not_told(project: Path):
    folder = Folder(str(project))
    assert codes(folder) == ["NST101"]
    (made,) = write_baselines(folder)
    assert [(entry.path, entry.code) for entry in made.entries] == [("bad.py", "NST101")]
    assert codes(folder) == []
    assert [one.code for one in folder.found(str(project / "bad.py"))] == ["NST101"]
    folder.set_text(str(project / "bad.py"), "# more\n" + BAD)
    assert codes(folder) == []
    folder.set_text(str(project / "bad.py"), BAD.replace("x * SCALE", "x - SCALE"))
    assert codes(folder) == ["NST101"]


def test_it_is_read_again_when_it_changes(project: Path):
    folder = Folder(str(project))
    write_baselines(folder)
    assert codes(folder) == []
    (project / DEFAULT_BASELINE).write_text("{")
    assert codes(folder) == ["NST101"]
    with pytest.raises(ConfigurationError):
        write_baselines(folder)
    (project / DEFAULT_BASELINE).unlink()
    assert codes(folder) == ["NST101"]


def test_it_is_the_one_of_the_command_line(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(project)
    folder = Folder(str(project))
    entries = write_baselines(folder)[0].entries
    result = check(["."], default_settings(str(project)), RunOptions(jobs=1))
    from nonstrict.check.baseline import read_baseline
    from nonstrict.report.context import Lines

    baseline = read_baseline(str(project / DEFAULT_BASELINE))
    assert baseline.entries == entries
    assert baseline.divided(result.diagnostics, Lines(result.read)).new == ()


def test_writing_it_again_forgets_what_is_gone(project: Path):
    folder = Folder(str(project))
    write_baselines(folder)
    path = project / DEFAULT_BASELINE
    document = json.loads(path.read_text())
    outside = {**document["findings"][0], "path": "../elsewhere.py", "fingerprint": "0"}
    document["findings"].append(outside)
    path.write_text(json.dumps(document))
    (project.parent / "elsewhere.py").write_text("")
    folder.set_text(str(project / "bad.py"), CLEAN)
    assert [entry.path for entry in write_baselines(folder)[0].entries] == ["../elsewhere.py"]
