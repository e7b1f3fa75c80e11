"""What a process keeps in memory answers as the cache on the disk does, and leaves the disk alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nonstrict.check.cache.held import Held
from nonstrict.check.run import RunOptions, check
from nonstrict.settings.model import default_settings

if TYPE_CHECKING:
    from pathlib import Path

    from nonstrict.check.run import CheckResult

MODEL = """
import torch
from lib import limits


@torch._dynamo.nonstrict_trace
def scaled(x):
    return x * limits.LIMIT
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"app/model.py": MODEL, "lib/limits.py": "LIMIT = 2.0\n"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(project: Path, held: Held | None, *, cache: bool = False) -> CheckResult:
    return check(["app"], default_settings(str(project)), RunOptions(jobs=1, cache=cache, held=held))


def test_a_second_run_is_answered_without_a_disk(project: Path):
    held = Held(disk=False)
    assert not run(project, held).cached
    assert run(project, held).cached
    held.save()
    assert sorted(path.name for path in project.iterdir()) == ["app", "lib"]


def test_what_is_saved_answers_another_process(project: Path):
    held = Held(disk=True)
    run(project, held)
    held.save()
    assert run(project, None, cache=True).cached
    assert run(project, Held(disk=True)).cached
    assert not run(project, Held(disk=False)).cached


@pytest.mark.parametrize("again", [False, True], ids=["examined", "answered"])
def test_what_a_run_rests_on_is_known(project: Path, again: bool):
    held = Held(disk=False)
    for _ in range(1 + again):
        run(project, held)
    depends = held.depends
    assert str(project / "lib" / "limits.py") in depends.files
    assert str(project / "lib") in {question.path for question in depends.questions}
